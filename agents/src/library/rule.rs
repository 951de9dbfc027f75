//! A rule: a requirement or a ban for agents. The server enforces some of them ([`super::enforced_rules`]); the others are the
//! application's.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::record::Record;
use crate::domain::library::LibraryFamily;

/// A rule.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Rule {
    #[schemars(length(min = 1, max = 2000))]
    pub(super) description: String,
    /// The rule itself, as the agent reads it.
    #[schemars(length(min = 1, max = 65536))]
    pub(super) content: String,
    pub(super) category: Category,
    pub(super) severity: Severity,
    /// How the rule is enforced: `inject` it into the instructions of models, `gate` calls of tools, or `both`. A gate is a `must-not`
    /// with a `tool_name`.
    #[serde(default)]
    pub(super) enforcement_mode: EnforcementMode,
    #[serde(default = "enabled")]
    pub(super) enabled: bool,
    /// The cases in which the rule applies. Without triggers, it always does.
    pub(super) triggers: Option<Triggers>,
    /// The level that states the rule. Of two rules that contradict each other, that of the higher level counts:
    /// `system` before `org`, `user` and `agent`.
    #[serde(default)]
    pub(super) level: Level,
    /// Violations that the application has counted.
    #[serde(default)]
    violation_count: u64,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Category {
    Must,
    MustNot,
    Should,
}

/// The weight of a rule, the highest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum Severity {
    Critical,
    High,
    Medium,
    Low,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema, Default)]
#[serde(rename_all = "lowercase")]
pub(super) enum EnforcementMode {
    #[default]
    Inject,
    Gate,
    Both,
}

/// The levels that state rules, the highest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema, Default)]
#[serde(rename_all = "lowercase")]
pub(super) enum Level {
    System,
    Org,
    #[default]
    User,
    Agent,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Triggers {
    #[schemars(length(max = 32), inner(length(min = 1, max = 64)))]
    #[serde(default)]
    pub(super) keywords: Vec<String>,
    #[schemars(length(min = 1, max = 64))]
    pub(super) tool_name: Option<String>,
    /// A vector of the application, with which it compares the vectors of messages.
    #[schemars(length(min = 1, max = 4096))]
    embedding: Option<Vec<f64>>,
    #[serde(default)]
    pub(super) always: bool,
}

impl Category {
    pub(super) const fn as_str(&self) -> &'static str {
        match self {
            Self::Must => "must",
            Self::MustNot => "must-not",
            Self::Should => "should",
        }
    }
}

const fn enabled() -> bool {
    true
}

impl Record for Rule {
    const FAMILY: LibraryFamily = LibraryFamily::Rules;
    const ID: &'static str = "rule_id";
    const LABEL: Option<&'static str> = Some("category");
    const HAS_TAGS: bool = false;
    const SWITCH: Option<(&'static str, &'static str)> = Some(("enabled_only", "enabled"));
    const IS_FIXED_BY_USERS: bool = true;
}
