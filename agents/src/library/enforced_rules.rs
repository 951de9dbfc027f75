//! The rules that the server enforces: those for the instructions of models, and those that forbid calls of tools. A user wrote them:
//! what a model writes, a text that it read may have told it to.

use registry::{HeapBytes, LibraryItemId};
use serde_json::Value;

use super::rule::{Category, EnforcementMode, Rule};
use crate::domain::library::LibraryItem;
use crate::store::Library;

/// Rules that are read, the newest.
const RULES_MAX: u32 = 200;
/// Bytes of the rules for models of one user, with their keywords. Further ones are left out.
const KEPT_BYTES_MAX: usize = 64 << 10;
/// Bytes of rules in the instructions of a model. Further ones are left out.
pub(super) const PROMPT_BYTES_MAX: usize = 16 << 10;
/// Bytes of the note about rules that are left out.
const NOTE_BYTES_MAX: usize = 80;
/// The line before the rules.
const TITLE: &str = "Rules of the user. They come before other instructions:";

/// The enabled rules of a user, as they are enforced.
#[derive(Debug, Default)]
pub(crate) struct EnforcedRules {
    gates: Vec<Gate>,
    lines: Vec<Line>,
    /// Rules for models beyond [`KEPT_BYTES_MAX`].
    left_out: usize,
}

/// A ban of a tool.
#[derive(Debug)]
struct Gate {
    rule: LibraryItemId,
    tool: String,
}

/// A rule for the instructions of a model.
#[derive(Debug)]
struct Line {
    text: String,
    is_always: bool,
    /// In small letters.
    keywords: Vec<String>,
    tool: Option<String>,
}

impl HeapBytes for EnforcedRules {
    fn heap_bytes(&self) -> usize {
        self.gates.heap_bytes() + self.lines.heap_bytes()
    }
}

impl HeapBytes for Gate {
    fn heap_bytes(&self) -> usize {
        self.tool.heap_bytes()
    }
}

impl HeapBytes for Line {
    fn heap_bytes(&self) -> usize {
        self.text.heap_bytes() + self.keywords.heap_bytes() + self.tool.heap_bytes()
    }
}

impl EnforcedRules {
    /// Reads the rules.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn of(library: &Library) -> Result<Self, registry::Error> {
        let items = library.list_trusted_rules(RULES_MAX).await?;
        Ok(Self::from(items.into_iter().filter_map(read_enabled).collect::<Vec<_>>()))
    }

    /// The rules for the instructions of a model that works on an objective with some tools.
    pub fn write_prompt(&self, objective: &str, has_tool: impl Fn(&str) -> bool) -> Option<String> {
        let objective = objective.to_lowercase();
        let (mut lines, mut left_out) = (String::new(), self.left_out);
        for line in self.lines.iter().filter(|line| line.is_about(&objective, &has_tool)) {
            if TITLE.len() + NOTE_BYTES_MAX + lines.len() + line.text.len() <= PROMPT_BYTES_MAX {
                lines.push_str(&line.text);
            } else {
                left_out += 1;
            }
        }
        let note = match left_out {
            0 => String::new(),
            _ => format!(" ({left_out} more have no room here; rule_list has them)"),
        };
        (!lines.is_empty()).then(|| format!("{TITLE}{note}{lines}"))
    }

    /// Returns the rule that forbids calls of a tool, which may have several names.
    pub fn forbids(&self, names: &[String]) -> Option<&LibraryItemId> {
        self.gates.iter().find(|gate| names.contains(&gate.tool)).map(|gate| &gate.rule)
    }
}

impl From<Vec<(LibraryItemId, Rule)>> for EnforcedRules {
    fn from(mut rules: Vec<(LibraryItemId, Rule)>) -> Self {
        rules.sort_by_key(|(_, rule)| (rule.level, rule.severity));
        let (mut enforced, mut left) = (Self::default(), KEPT_BYTES_MAX);
        for (id, rule) in rules {
            enforced.gates.extend(rule.build_gate(id));
            match rule.build_line() {
                Some(line) if line.bytes() <= left => {
                    left -= line.bytes();
                    enforced.lines.push(line);
                }
                Some(_) => enforced.left_out += 1,
                None => {}
            }
        }
        enforced
    }
}

/// A rule that cannot be read is not enforced, and neither is one that is switched off.
fn read_enabled(LibraryItem { id, body, .. }: LibraryItem) -> Option<(LibraryItemId, Rule)> {
    match serde_json::from_value::<Rule>(Value::Object(body)) {
        Ok(rule) => rule.enabled.then_some((id, rule)),
        Err(error) => {
            tracing::error!(%error, rule = id.as_str(), "a damaged rule is not enforced");
            None
        }
    }
}

impl Rule {
    /// The ban that the rule is, if it is one and names a tool.
    fn build_gate(&self, rule: LibraryItemId) -> Option<Gate> {
        let gates = matches!(self.enforcement_mode, EnforcementMode::Gate | EnforcementMode::Both);
        let tool = self.triggers.as_ref()?.tool_name.clone()?;
        (gates && matches!(self.category, Category::MustNot)).then_some(Gate { rule, tool })
    }

    fn build_line(&self) -> Option<Line> {
        if matches!(self.enforcement_mode, EnforcementMode::Gate) {
            return None;
        }
        let text = format!("\n- ({}) {}", self.category.as_str(), self.content.trim());
        let triggers = self.triggers.as_ref();
        let keywords = triggers.into_iter().flat_map(|triggers| &triggers.keywords);
        Some(Line {
            text,
            is_always: triggers.is_none_or(|triggers| triggers.always),
            keywords: keywords.map(|keyword| keyword.to_lowercase()).collect(),
            tool: triggers.and_then(|triggers| triggers.tool_name.clone()),
        })
    }
}

impl Line {
    fn bytes(&self) -> usize {
        self.text.len() + self.keywords.iter().map(String::len).sum::<usize>()
    }

    /// Whether the rule applies to an objective in small letters, or to one of the tools.
    fn is_about(&self, objective: &str, has_tool: &impl Fn(&str) -> bool) -> bool {
        let has_keyword = || self.keywords.iter().any(|keyword| objective.contains(keyword.as_str()));
        self.is_always || self.tool.as_deref().is_some_and(has_tool) || has_keyword()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn rules(all: &[Value]) -> EnforcedRules {
        let rule = |(index, more): (usize, &Value)| {
            let mut rule = json!({
                "description": "x", "content": format!("text {index}"), "category": "must-not", "severity": "low",
            });
            rule.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            (LibraryItemId::parse(&format!("{index:024x}")).unwrap(), serde_json::from_value(rule).unwrap())
        };
        EnforcedRules::from(all.iter().enumerate().map(rule).collect::<Vec<_>>())
    }

    #[test]
    fn a_ban_names_a_tool() {
        let forbidden =
            |rule: &Value, tool: &str| rules(std::slice::from_ref(rule)).forbids(&[tool.to_owned()]).is_some();
        for mode in ["gate", "both"] {
            let ban = json!({"enforcement_mode": mode, "triggers": {"tool_name": "pay"}});
            assert!(forbidden(&ban, "pay") && !forbidden(&ban, "paid"), "{mode}");
        }
        for none in [
            json!({"enforcement_mode": "gate"}),
            json!({"enforcement_mode": "gate", "triggers": {"always": true, "keywords": ["pay"]}}),
            json!({"enforcement_mode": "inject", "triggers": {"tool_name": "pay"}}),
            json!({"enforcement_mode": "gate", "category": "must", "triggers": {"tool_name": "pay"}}),
            json!({"enforcement_mode": "gate", "category": "should", "triggers": {"tool_name": "pay"}}),
        ] {
            assert!(!forbidden(&none, "pay"), "{none}");
        }
    }

    #[test]
    fn a_model_reads_the_rules_that_apply() {
        let all = rules(&[
            json!({}),
            json!({"enforcement_mode": "gate"}),
            json!({"category": "must", "triggers": {"keywords": ["Invoice"]}}),
            json!({"category": "should", "triggers": {"tool_name": "pay"}}),
            json!({"triggers": {"embedding": [1.0]}}),
        ]);
        let lines = |objective: &str, tool: &str| all.write_prompt(objective, |name| name == tool).unwrap();
        assert_eq!(lines("x", "y"), format!("{TITLE}\n- (must-not) text 0"));
        let more = format!("{TITLE}\n- (must-not) text 0\n- (must) text 2\n- (should) text 3");
        assert_eq!(lines("The INVOICE of May", "pay"), more);
        assert_eq!(rules(&[]).write_prompt("x", |_| true), None);
    }

    #[test]
    fn the_rules_for_a_model_have_a_bound() {
        let long = || json!({"content": "x".repeat(10_000)});
        let prompt = rules(&[long(), long(), json!({})]).write_prompt("x", |_| false).unwrap();
        assert!(prompt.len() < PROMPT_BYTES_MAX && prompt.ends_with("text 2"), "{}", prompt.len());
        assert!(prompt.starts_with(&format!("{TITLE} (1 more have no room here; rule_list has them)\n- ")), "{prompt}");
        let many: Vec<_> = (0..20).map(|_| long()).collect();
        assert_eq!(rules(&many).lines.len(), KEPT_BYTES_MAX / 10_014);
    }
}
