//! The agent through which a tool was called, as the record of the run has it.

use serde::{Deserialize, Serialize};

use super::invocation_source::Origin;
use crate::kit::ids::{AgentId, TurnId};
use crate::kit::named_values::named_values;
use crate::kit::revision_number::RevisionNumber;
use crate::kit::text_type::{made_of, text_type};
use crate::text::visible_text::visible;

/// The agent through which a tool was called.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentCall {
    pub agent: AgentId,
    /// The running revision at the call, or at the beginning of its turn.
    pub revision: RevisionNumber,
    pub protocol: AgentProtocol,
    pub client: Option<ClientName>,
    pub turn: Option<TurnId>,
}

named_values! {
    /// The protocol of a call through an agent.
    AgentProtocol = "agent protocol", "must be mcp or rest" {
        /// The Model Context Protocol.
        Mcp = "mcp",
        /// The HTTP API of agents.
        Rest = "rest",
    }
}

text_type! {
    /// The name and the version of an MCP client, such as `claude-code 2.1`.
    ClientName = "client name", "must have 1 to 128 bytes, and no control characters", |text| {
        made_of(text, ClientName::BYTES_MAX, |c| !c.is_control())
    };
}

impl AgentProtocol {
    /// Returns the origin of runs that were called by the protocol.
    pub const fn origin(self) -> Origin {
        match self {
            Self::Mcp => Origin::Mcp,
            Self::Rest => Origin::Agent,
        }
    }
}

impl ClientName {
    /// Length of a client's name: a line on a screen.
    pub const BYTES_MAX: usize = 128;

    /// Makes a name from what a client says of itself. White space and control characters become single spaces, other hidden
    /// characters are shown as escapes, and the end of a longer text is cut off. `None` without any other characters.
    pub fn of(name: &str, version: &str) -> Option<Self> {
        let mut text = String::new();
        let is_gap = |c: char| c.is_whitespace() || c.is_control();
        for word in name.split(is_gap).chain(version.split(is_gap)).filter(|word| !word.is_empty()) {
            let word = visible(word);
            if !text.is_empty() {
                text.push(' ');
            }
            text.push_str(&word[..word.floor_char_boundary(Self::BYTES_MAX.saturating_sub(text.len()))]);
            if text.len() + 1 >= Self::BYTES_MAX {
                break;
            }
        }
        Self::parse(text.trim_end()).ok()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_a_client_says_becomes_a_name() {
        let long = "x".repeat(200);
        for (name, version, expected) in [
            ("claude-code", "2.1", Some("claude-code 2.1")),
            ("claude-code", "", Some("claude-code")),
            ("", "2.1", Some("2.1")),
            ("  two\twords\n", "\u{0}1.0\u{7f}", Some("two words 1.0")),
            ("a\u{85}b\u{a0}c", "", Some("a b c")),
            ("客户端", "一", Some("客户端 一")),
            ("cl\u{202e}ient", "\u{e0041}", Some("cl\\u{202e}ient \\u{e0041}")),
            ("", "", None),
            (" \n", "\u{0}", None),
            (&long, "1", Some(&long[..128])),
            (&long[..127], "1", Some(&long[..127])),
            (&long[..126], "12", Some(&format!("{} 1", &long[..126]))),
        ] {
            let made = ClientName::of(name, version);
            assert_eq!(made.as_ref().map(ClientName::as_str), expected, "{name:?} {version:?}");
        }
        let cut = ClientName::of(&"é".repeat(100), "").unwrap();
        assert_eq!(cut.as_str(), "é".repeat(64));
        assert_eq!(ClientName::of(&format!("x{}", "é".repeat(100)), "").unwrap().as_str().len(), 127);
    }

    #[test]
    fn names_have_no_control_characters() {
        for (text, is_right) in [("a", true), ("a b", true), ("", false), ("a\nb", false), ("a\u{0}", false)] {
            assert_eq!(ClientName::parse(text).is_ok(), is_right, "{text:?}");
        }
        assert!(ClientName::parse(&"a".repeat(128)).is_ok() && ClientName::parse(&"a".repeat(129)).is_err());
    }

    #[test]
    fn the_protocol_is_the_origin() {
        let origins = AgentProtocol::ALL.iter().map(|protocol| protocol.origin().as_str());
        assert_eq!(origins.collect::<Vec<_>>(), ["mcp", "agent"]);
    }

    proptest! {
        #[test]
        fn any_text_with_a_word_becomes_a_name(name in any::<String>(), version in any::<String>()) {
            let has_word = |text: &str| text.chars().any(|c| !c.is_whitespace() && !c.is_control());
            let made = ClientName::of(&name, &version);
            prop_assert_eq!(made.is_some(), has_word(&name) || has_word(&version));
            if let Some(made) = made {
                prop_assert_eq!(ClientName::parse(made.as_str()), Ok(made.clone()));
                prop_assert_eq!(ClientName::of(made.as_str(), ""), Some(made));
            }
        }
    }
}
