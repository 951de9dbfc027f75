//! The setting of an agent that selects among the server's own tools.

use serde::{Deserialize, Serialize};

use crate::library::LibraryFamily;
use crate::text_type::{made_of, text_type};

text_type! {
    /// The name of a family of tools, which need not exist.
    FamilyName = "family name", "must be 1 to 64 characters of a-z 0-9 _ -", |text| {
        made_of(text, 64, |c| matches!(c, 'a'..='z' | '0'..='9' | '_' | '-'))
    };
}

/// The families of Library tools that an agent has. Names that are no family mean nothing, so that a setting outlives a
/// family.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BuiltInTools {
    pub disabled: Vec<FamilyName>,
    /// The only families, apart from those that are disabled. `None` for all.
    pub allowed_families: Option<Vec<FamilyName>>,
}

impl BuiltInTools {
    /// Names in one list.
    pub const NAMES_MAX: usize = 32;

    pub fn allows(&self, family: LibraryFamily) -> bool {
        let has = |names: &[FamilyName]| names.iter().any(|name| name.as_str() == family.as_str());
        !has(&self.disabled) && self.allowed_families.as_deref().is_none_or(has)
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

#[cfg(test)]
mod tests {
    use super::*;

    fn tools(disabled: &[&str], allowed: Option<&[&str]>) -> BuiltInTools {
        let names = |names: &[&str]| names.iter().map(|name| FamilyName::parse(name).unwrap()).collect();
        BuiltInTools { disabled: names(disabled), allowed_families: allowed.map(names) }
    }

    fn families(disabled: &[&str], allowed: Option<&[&str]>) -> Vec<&'static str> {
        let (tools, all) = (tools(disabled, allowed), LibraryFamily::ALL.iter().copied());
        all.filter(|family| tools.allows(*family)).map(LibraryFamily::as_str).collect()
    }

    #[test]
    fn s0_017_to_s0_024_lists_of_families() {
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
