//! How long the results of calls are remembered.

use serde::{Deserialize, Serialize};

/// How long an agent remembers the results of a tool. Recordings have the index of the variant, so that
/// the order of the variants must stay.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ResultPersistence {
    /// The result is visible within the interaction that called the tool.
    Ephemeral,
    /// Later interactions see the result, too, unless it is long.
    #[default]
    PersistedPreferred,
    /// Later interactions see the result, too. A long result is an error of the tool.
    Persisted,
}

impl ResultPersistence {
    pub const ALL: [Self; 3] = [Self::Ephemeral, Self::PersistedPreferred, Self::Persisted];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Ephemeral => "ephemeral",
            Self::PersistedPreferred => "persisted-preferred",
            Self::Persisted => "persisted",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn persistences_have_one_name() {
        for persistence in ResultPersistence::ALL {
            assert_eq!(serde_json::to_value(persistence).unwrap(), persistence.as_str());
        }
    }
}
