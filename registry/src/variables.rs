//! The variables of a tool: plain ones and secrets. Values go in and reach a run; nothing else reads them back.

use std::collections::BTreeMap;
use std::fmt;

use zeroize::Zeroizing;

use crate::names::EnvvarName;

/// A value that must not be shown: wiped when dropped, and `[secret]` in every debug output.
#[derive(Clone, PartialEq, Eq)]
pub struct SecretValue(Zeroizing<String>);

impl SecretValue {
    pub fn new(value: String) -> Self {
        Self(Zeroizing::new(value))
    }

    /// The value itself; the name makes every reader easy to find.
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

/// A variable that does not exist yet.
#[derive(Clone, Debug)]
pub struct EnvvarInsert {
    pub name: EnvvarName,
    pub value: SecretValue,
    pub is_secret: bool,
}

/// A new value for a variable that exists; whether it is secret stays.
#[derive(Clone, Debug)]
pub struct EnvvarUpdate {
    pub name: EnvvarName,
    pub value: SecretValue,
}

/// Changes that happen together or not at all: deletes first, then updates, then inserts.
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
