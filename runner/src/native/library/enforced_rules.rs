//! The rules of a user that the server enforces itself: those for the instructions of a model, and those that forbid calls of tools.

use registry::{Library, LibraryFamily, LibraryFilter, LibraryItem, LibraryItemId, LibraryRange, UserId};
use serde_json::Value;

use super::rules::{Category, EnforcementMode, Rule};

/// Rules that are read, the newest.
const RULES_MAX: u32 = 200;
/// Bytes of rules in the instructions of a model. Further ones are left out.
const PROMPT_BYTES_MAX: usize = 16 << 10;
/// The line before the rules.
const TITLE: &str = "Rules of the user. They come before other instructions:";

/// The enabled rules of a user, as they are enforced.
#[derive(Debug, Default)]
pub(crate) struct EnforcedRules(Vec<Enforced>);

#[derive(Debug)]
struct Enforced {
    id: LibraryItemId,
    rule: Rule,
    /// Whether the user wrote it, and not a model, which a text may have told to.
    is_trusted: bool,
}

/// A rule that forbids a call.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Forbidden {
    pub rule: LibraryItemId,
    pub description: String,
}

impl EnforcedRules {
    /// Reads the rules. Those that others share with the user do not count.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn of(library: &Library, user: &UserId) -> Result<Self, registry::Error> {
        let range = LibraryRange { limit: RULES_MAX, offset: 0 };
        let items = library.list(LibraryFamily::Rules, &LibraryFilter::default(), range).await?;
        let mut rules: Vec<_> = items.into_iter().filter(|item| item.owner == *user).filter_map(Enforced::of).collect();
        rules.sort_by_key(|enforced| (enforced.rule.level, enforced.rule.severity));
        Ok(Self(rules))
    }

    /// The rules for the instructions of a model that works on an objective with some tools.
    pub fn prompt(&self, objective: &str, has_tool: impl Fn(&str) -> bool) -> Option<String> {
        let objective = objective.to_lowercase();
        let mut prompt = TITLE.to_owned();
        for Enforced { rule, is_trusted, .. } in &self.0 {
            let line = format!("\n- ({}) {}", rule.category.as_str(), rule.content.trim());
            let is_shown = *is_trusted && rule.injects() && rule.is_about(&objective, &has_tool);
            if is_shown && prompt.len() + line.len() <= PROMPT_BYTES_MAX {
                prompt.push_str(&line);
            }
        }
        (prompt.len() > TITLE.len()).then_some(prompt)
    }

    /// Returns the rule that forbids a call of a tool, which may have several names, with these arguments.
    pub fn forbids(&self, names: &[String], arguments: &[String]) -> Option<Forbidden> {
        let arguments: Vec<_> = arguments.iter().map(|text| text.to_lowercase()).collect();
        let found = self.0.iter().find(|enforced| enforced.rule.forbids(names, &arguments))?;
        Some(Forbidden { rule: found.id.clone(), description: found.rule.description.clone() })
    }
}

impl Enforced {
    /// A rule that cannot be read is not enforced, and neither is one that is switched off.
    fn of(item: LibraryItem) -> Option<Self> {
        let LibraryItem { id, body, provenance, .. } = item;
        match serde_json::from_value::<Rule>(Value::Object(body)) {
            Ok(rule) => rule.enabled.then_some(Self { id, rule, is_trusted: provenance.is_trusted }),
            Err(error) => {
                tracing::error!(%error, rule = id.as_str(), "a damaged rule is not enforced");
                None
            }
        }
    }
}

impl Rule {
    const fn injects(&self) -> bool {
        matches!(self.enforcement_mode, EnforcementMode::Inject | EnforcementMode::Both)
    }

    const fn gates(&self) -> bool {
        matches!(self.enforcement_mode, EnforcementMode::Gate | EnforcementMode::Both)
    }

    /// Whether the rule applies to an objective in small letters, and to one of the tools.
    fn is_about(&self, objective: &str, has_tool: &impl Fn(&str) -> bool) -> bool {
        let Some(triggers) = &self.triggers else { return true };
        let names_keyword = triggers.keywords.iter().any(|keyword| objective.contains(&keyword.to_lowercase()));
        triggers.always || names_keyword || triggers.tool_name.as_deref().is_some_and(has_tool)
    }

    /// Whether the rule bans a call. It has to name the tool, or words of the arguments; of both, both have to fit.
    fn forbids(&self, names: &[String], arguments: &[String]) -> bool {
        let Some(triggers) = self.triggers.as_ref().filter(|_| self.gates()) else { return false };
        let fits_tool = triggers.tool_name.as_ref().is_none_or(|name| names.contains(name));
        let has_keyword =
            |text: &String| triggers.keywords.iter().any(|keyword| text.contains(&keyword.to_lowercase()));
        let fits_words = triggers.keywords.is_empty() || arguments.iter().any(has_keyword);
        let is_bound = triggers.tool_name.is_some() || !triggers.keywords.is_empty();
        matches!(self.category, Category::MustNot) && is_bound && fits_tool && fits_words
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn rules(all: &[(Value, bool)]) -> EnforcedRules {
        let enforced = all.iter().enumerate().map(|(index, (more, is_trusted))| {
            let mut rule = json!({"description": format!("rule {index}"), "content": format!("text {index}"), "category": "must-not", "severity": "low"});
            rule.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            let id = LibraryItemId::parse(&format!("{index:024x}")).unwrap();
            Enforced { id, rule: serde_json::from_value(rule).unwrap(), is_trusted: *is_trusted }
        });
        EnforcedRules(enforced.collect())
    }

    fn forbidden(rule: Value, tool: &str, arguments: &str) -> bool {
        rules(&[(rule, false)]).forbids(&[tool.to_owned()], &[arguments.to_owned()]).is_some()
    }

    #[test]
    fn a_ban_names_a_tool_or_words_of_the_arguments() {
        let pay = json!({"enforcement_mode": "gate", "triggers": {"tool_name": "pay"}});
        assert!(forbidden(pay.clone(), "pay", "{}") && !forbidden(pay, "paid", "{}"));
        let words = json!({"enforcement_mode": "both", "triggers": {"keywords": ["Casino", "bet"]}});
        assert!(forbidden(words.clone(), "pay", "{\"to\":\"the casino\"}") && !forbidden(words, "pay", "{}"));
        let both = json!({"enforcement_mode": "gate", "triggers": {"tool_name": "pay", "keywords": ["bet"]}});
        assert!(
            forbidden(both.clone(), "pay", "a bet")
                && !forbidden(both.clone(), "pay", "x")
                && !forbidden(both, "x", "bet")
        );
        for none in [
            json!({"enforcement_mode": "gate"}),
            json!({"enforcement_mode": "gate", "triggers": {"always": true}}),
            json!({"enforcement_mode": "inject", "triggers": {"tool_name": "pay"}}),
            json!({"enforcement_mode": "gate", "category": "must", "triggers": {"tool_name": "pay"}}),
            json!({"enforcement_mode": "gate", "category": "should", "triggers": {"tool_name": "pay"}}),
        ] {
            assert!(!forbidden(none.clone(), "pay", "{}"), "{none}");
        }
    }

    #[test]
    fn a_model_reads_the_rules_that_the_user_wrote_and_that_apply() {
        let all = rules(&[
            (json!({}), true),
            (json!({}), false),
            (json!({"enforcement_mode": "gate"}), true),
            (json!({"category": "must", "triggers": {"keywords": ["Invoice"]}}), true),
            (json!({"category": "should", "triggers": {"tool_name": "pay"}}), true),
            (json!({"triggers": {"embedding": [1.0]}}), true),
        ]);
        let lines = |objective: &str, tool: &str| all.prompt(objective, |name| name == tool).unwrap();
        assert_eq!(lines("x", "y"), format!("{TITLE}\n- (must-not) text 0"));
        let more = format!("{TITLE}\n- (must-not) text 0\n- (must) text 3\n- (should) text 4");
        assert_eq!(lines("The INVOICE of May", "pay"), more);
        assert_eq!(rules(&[]).prompt("x", |_| true), None);
    }

    #[test]
    fn the_rules_for_a_model_have_a_bound() {
        let long = || (json!({"content": "x".repeat(10_000)}), true);
        let prompt = rules(&[long(), long(), (json!({}), true)]).prompt("x", |_| false).unwrap();
        assert!(prompt.len() < PROMPT_BYTES_MAX && prompt.ends_with("text 2"), "{}", prompt.len());
    }
}
