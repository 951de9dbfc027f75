//! The variables of a tool, plain and secret. Only runs read their values.

use std::collections::BTreeMap;
use std::fmt;

use zeroize::Zeroizing;

use super::names::EnvvarName;

/// A secret value. It is wiped when dropped, and shown as `[secret]` in debug output.
#[derive(Clone, PartialEq, Eq)]
pub struct SecretValue(Zeroizing<String>);

impl SecretValue {
    pub fn new(value: String) -> Self {
        Self(Zeroizing::new(value))
    }

    /// Returns the value. The name makes all uses easy to find.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl From<String> for SecretValue {
    fn from(value: String) -> Self {
        Self::new(value)
    }
}

impl fmt::Debug for SecretValue {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("[secret]")
    }
}

/// A variable to insert.
#[derive(Clone, Debug)]
pub struct EnvvarInsert {
    pub name: EnvvarName,
    pub value: SecretValue,
    pub is_secret: bool,
}

/// A new value for an existing variable. It stays plain or secret.
#[derive(Clone, Debug)]
pub struct EnvvarUpdate {
    pub name: EnvvarName,
    pub value: SecretValue,
}

/// Changes that are applied together or not at all: deletes first, then updates, then inserts.
#[derive(Clone, Debug, Default)]
pub struct EnvvarChanges {
    pub inserts: Vec<EnvvarInsert>,
    pub updates: Vec<EnvvarUpdate>,
    pub deletes: Vec<EnvvarName>,
}

/// The opened variables of a tool, for a run.
#[derive(Clone, Default)]
pub struct Variables {
    pub envvars: BTreeMap<EnvvarName, String>,
    pub secrets: BTreeMap<EnvvarName, SecretValue>,
}

impl fmt::Debug for Variables {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.envvars.keys().chain(self.secrets.keys()).collect();
        formatter.debug_struct("Variables").field("names", &names).finish_non_exhaustive()
    }
}
