//! Declarations of a version for models and clients: hints about its effects, and whether a call over MCP becomes a task.

use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::kit::byte_cache::heap_bytes;
use crate::kit::invalid_value::InvalidValue;
use crate::kit::text_type::{made_of, text_type};

text_type! {
    /// The title of a tool, for people. Surrounding white space is trimmed. NUL is refused, because some databases refuse it.
    ToolTitle = "title", "must have 1 to 128 bytes besides surrounding white space, and no NUL", |text| {
        made_of(text.trim(), ToolTitle::BYTES_MAX, |c| c != '\0')
    };
}

impl ToolTitle {
    /// Length of a title: a line on a screen.
    pub const BYTES_MAX: usize = 128;
}

/// First words of the names of tools that only read.
const READING_VERBS: &[&str] = &["list", "get", "search", "view", "query", "find", "read", "count", "check", "show"];
/// First words of the names of tools that remove something.
const REMOVING_VERBS: &[&str] = &["delete", "remove", "forget", "end", "unassign"];
/// First words of the names of tools that have the same effect once and repeatedly.
const SETTING_VERBS: &[&str] = &["set", "update", "edit", "write", "assign"];

/// Hints of an author about a version, for models and clients. The server does not enforce them. Undeclared hints are absent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Annotations {
    /// The title of the tool, for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<ToolTitle>,
    /// Whether calls change nothing outside the tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_only: Option<bool>,
    /// Whether calls may delete or overwrite something.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub destructive: Option<bool>,
    /// Whether a repeated call with the same input has no further effect.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idempotent: Option<bool>,
    /// Whether calls reach systems that other parties change, such as the web.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub open_world: Option<bool>,
}

impl Annotations {
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Whether the version is declared to change nothing and to delete something.
    pub fn is_contradictory(&self) -> bool {
        self.read_only == Some(true) && self.destructive == Some(true)
    }

    /// Adds the default of the name of the tool or the API: a name that begins with a verb such as `list` is read-only, with one such as
    /// `delete` destructive, with one such as `set` idempotent. Declared flags stay, and no default contradicts them.
    #[must_use]
    pub fn with_defaults_of(&self, tool_name: &str) -> Self {
        let verb = tool_name.split(|c: char| c == '_' || c.is_ascii_uppercase()).next().unwrap_or_default();
        let default = |verbs: &[&str]| verbs.contains(&verb).then_some(true);
        let unless = |other: Option<bool>| other != Some(true);
        Self {
            read_only: self.read_only.or(default(READING_VERBS).filter(|_| unless(self.destructive))),
            destructive: self.destructive.or(default(REMOVING_VERBS).filter(|_| unless(self.read_only))),
            idempotent: self.idempotent.or(default(SETTING_VERBS)),
            ..self.clone()
        }
    }
}

/// Whether a call of a version over MCP becomes a task of the MCP extension `io.modelcontextprotocol/tasks`. It has no
/// effect on the HTTP API.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TaskSupport {
    /// The response has the result: it is sent when the tool has ended.
    #[default]
    Never,
    /// A client that declares the extension gets a task at once and asks for its result later. Other clients get the
    /// result.
    Optional,
    /// Only clients that declare the extension may call the tool.
    Required,
}

impl TaskSupport {
    pub const ALL: [Self; 3] = [Self::Never, Self::Optional, Self::Required];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Never => "never",
            Self::Optional => "optional",
            Self::Required => "required",
        }
    }

    pub fn is_never(&self) -> bool {
        *self == Self::Never
    }
}

impl FromStr for TaskSupport {
    type Err = InvalidValue;

    fn from_str(text: &str) -> Result<Self, InvalidValue> {
        let found = Self::ALL.into_iter().find(|support| support.as_str() == text);
        found.ok_or(InvalidValue::new("tasks", "must be never, optional or required"))
    }
}

heap_bytes! {
    Annotations { title }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_title_is_a_line() {
        for (text, title) in [(" Find orders ", Some("Find orders")), ("", None), ("  ", None), ("a\0", None)] {
            assert_eq!(ToolTitle::parse(text).ok().as_ref().map(ToolTitle::as_str), title, "{text:?}");
        }
        assert!(ToolTitle::parse(&"a".repeat(128)).is_ok() && ToolTitle::parse(&"a".repeat(129)).is_err());
        assert!(ToolTitle::parse(&"é".repeat(65)).is_err(), "a title is measured in bytes");
    }

    #[test]
    fn the_first_word_of_a_name_gives_the_default() {
        let defaults = |name: &str| {
            let Annotations { read_only, destructive, idempotent, open_world, .. } =
                Annotations::default().with_defaults_of(name);
            assert_eq!(open_world, None);
            (read_only, destructive, idempotent)
        };
        for (verbs, expected) in [
            (READING_VERBS, (Some(true), None, None)),
            (REMOVING_VERBS, (None, Some(true), None)),
            (SETTING_VERBS, (None, None, Some(true))),
        ] {
            for verb in verbs {
                assert_eq!(defaults(verb), expected);
                assert_eq!(defaults(&format!("{verb}_order")), expected);
                assert_eq!(defaults(&format!("{verb}Order")), expected, "an API");
            }
        }
        for name in ["getaway_car", "send_list", "order", "_get", "", "ending"] {
            assert_eq!(defaults(name), (None, None, None), "{name}");
        }
    }

    #[test]
    fn declared_flags_win_over_defaults() {
        let declared = Annotations { read_only: Some(false), open_world: Some(true), ..Annotations::default() };
        assert_eq!(declared.with_defaults_of("get_order"), declared);
        let destructive = Annotations { destructive: Some(true), ..Annotations::default() };
        assert_eq!(destructive.with_defaults_of("check_out"), destructive, "a default contradicts no declaration");
        let read_only = Annotations { read_only: Some(true), ..Annotations::default() };
        assert_eq!(read_only.with_defaults_of("end_of_month"), read_only);
        let tame = Annotations { destructive: Some(false), ..Annotations::default() };
        assert_eq!(tame.with_defaults_of("get_order"), Annotations { read_only: Some(true), ..tame.clone() });
    }

    #[test]
    fn only_declared_values_are_written() {
        assert_eq!(serde_json::to_value(Annotations::default()).unwrap(), json!({}));
        let text = json!({"title": "Find orders", "read_only": true, "open_world": false});
        let read: Annotations = serde_json::from_value(text.clone()).unwrap();
        assert_eq!(serde_json::to_value(&read).unwrap(), text);
        for support in TaskSupport::ALL {
            assert_eq!(serde_json::to_value(support).unwrap(), support.as_str());
            assert_eq!(support.as_str().parse(), Ok(support));
        }
        assert!("Never".parse::<TaskSupport>().is_err() && TaskSupport::default().is_never());
    }
}
