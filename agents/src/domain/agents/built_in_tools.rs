//! The setting of an agent that selects among the server's own tools, and says which of their calls a person confirms.

use std::collections::BTreeMap;

use registry::{Intervention, NativeToolName, heap_bytes, made_of, text_type};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::domain::library::LibraryFamily;

text_type! {
    /// The name of a family of tools, which need not exist.
    FamilyName = "family name", "must be 1 to 64 characters of a-z 0-9 _ -", |text| {
        made_of(text, 64, |c| matches!(c, 'a'..='z' | '0'..='9' | '_' | '-'))
    };
}

// Names that are no family mean nothing, so that a setting outlives a family.
/// The families of the Library that an agent has, and which calls of the server's tools a person confirms.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BuiltInTools {
    /// Families that the agent does not have.
    pub disabled: Vec<FamilyName>,
    /// The only families that the agent has, apart from those that are disabled. Null for all.
    pub allowed_families: Option<Vec<FamilyName>>,
    /// Whether a person confirms the calls of a tool, by its name. Absent if nothing is asked for.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub human_intervention: BTreeMap<NativeToolName, Intervention>,
}

impl BuiltInTools {
    /// Names in one list.
    pub const NAMES_MAX: usize = 32;
    /// Tools in `human_intervention`: all of the Library, and some.
    pub const TOOLS_MAX: usize = 64;

    pub fn allows(&self, family: LibraryFamily) -> bool {
        let has = |names: &[FamilyName]| names.iter().any(|name| name.as_str() == family.as_str());
        !has(&self.disabled) && self.allowed_families.as_deref().is_none_or(has)
    }

    /// Whether a person confirms the calls of a tool of the server.
    pub fn intervention_of(&self, tool: &str) -> Intervention {
        let found = self.human_intervention.iter().find(|(name, _)| name.as_str() == tool);
        found.map_or(Intervention::Never, |(_, intervention)| *intervention)
    }

    /// Returns the same families without those that `other` disables, and for each tool the stricter confirmation of both.
    #[must_use]
    pub fn as_strict_as(mut self, other: &Self) -> Self {
        self.disabled.extend(other.disabled.iter().cloned());
        for (tool, intervention) in &other.human_intervention {
            let own = self.human_intervention.entry(tool.clone()).or_default();
            *own = (*own).max(*intervention);
        }
        self
    }

    /// Returns the names that are no family, each once.
    pub fn unknown(&self) -> Vec<&str> {
        let all = self.disabled.iter().chain(self.allowed_families.iter().flatten()).map(FamilyName::as_str);
        let mut unknown: Vec<_> = all.filter(|name| name.parse::<LibraryFamily>().is_err()).collect();
        unknown.sort_unstable();
        unknown.dedup();
        unknown
    }
}

heap_bytes! {
    BuiltInTools { disabled, allowed_families, human_intervention }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tools(disabled: &[&str], allowed: Option<&[&str]>) -> BuiltInTools {
        let names = |names: &[&str]| names.iter().map(|name| FamilyName::parse(name).unwrap()).collect();
        BuiltInTools {
            disabled: names(disabled),
            allowed_families: allowed.map(names),
            human_intervention: BTreeMap::new(),
        }
    }

    fn asking(tools: &[(&str, Intervention)]) -> BuiltInTools {
        let named = tools.iter().map(|(name, intervention)| (NativeToolName::parse(name).unwrap(), *intervention));
        BuiltInTools { human_intervention: named.collect(), ..BuiltInTools::default() }
    }

    #[test]
    fn the_stricter_confirmation_of_two_settings_counts() {
        use Intervention::{Always, Never, Required};
        let agent = asking(&[("artifact_share", Required), ("memory_delete", Always)]);
        let run = BuiltInTools {
            disabled: agent.disabled.clone(),
            ..asking(&[("artifact_share", Never), ("rule_delete", Required)])
        };
        let both = run.as_strict_as(&agent);
        assert!(both.disabled.is_empty());
        for (tool, expected) in
            [("artifact_share", Required), ("memory_delete", Always), ("rule_delete", Required), ("task_delete", Never)]
        {
            assert_eq!(both.intervention_of(tool), expected, "{tool}");
        }
    }

    #[test]
    fn families_that_the_agent_disables_stay_disabled() {
        let agent = tools(&["memory"], Some(&["skills"]));
        let run = tools(&["rules"], Some(&["memory", "rules", "tasks"])).as_strict_as(&agent);
        let allowed = LibraryFamily::ALL.iter().copied().filter(|family| run.allows(*family));
        assert_eq!(allowed.map(LibraryFamily::as_str).collect::<Vec<_>>(), ["tasks"]);
    }

    fn families(disabled: &[&str], allowed: Option<&[&str]>) -> Vec<&'static str> {
        let (tools, all) = (tools(disabled, allowed), LibraryFamily::ALL.iter().copied());
        all.filter(|family| tools.allows(*family)).map(LibraryFamily::as_str).collect()
    }

    #[test]
    fn s0_017_018_and_020_to_024_lists_of_families() {
        assert_eq!(families(&[], None).len(), 7);
        assert_eq!(families(&["artifacts"], None).len(), 6);
        assert!(!families(&["artifacts"], None).contains(&"artifacts"));
        assert_eq!(families(&["nothing"], None).len(), 7);
        assert!(families(&[], Some(&[])).is_empty());
        let research = ["memory", "skills", "prompts"];
        assert_eq!(families(&[], Some(&research)), research);
        assert_eq!(families(&["skills"], Some(&research)), ["memory", "prompts"]);
    }

    #[test]
    fn unknown_names_are_told() {
        assert_eq!(tools(&["b", "memory"], Some(&["a", "b"])).unknown(), ["a", "b"]);
        assert_eq!(tools(&["memory"], None).unknown(), Vec::<&str>::new());
    }
}
