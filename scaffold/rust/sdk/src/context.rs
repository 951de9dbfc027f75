//! What a tool is told beside its input.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Index;

use serde::Deserialize;

use crate::{StatusEvent, host};

/// All that `run_tool` receives beside its input.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Context {
    pub metadata: Metadata,
    pub config: Config,
    /// `None` when nobody is talking: a direct invoke, a branch test.
    pub conversation: Option<Conversation>,
    pub user_variables: UserVariables,
}

/// Facts about the run. Ids are 24 lower-case hexadecimal characters, `version` is `major.minor.patch`.
#[derive(Debug, Clone, Deserialize)]
#[non_exhaustive]
pub struct Metadata {
    /// `regular` acts on the world, `conversation-simulation` must leave it as it was.
    pub invocation_mode: String,
    pub invocation_id: String,
    pub tool_id: String,
    pub tool_name: String,
    pub version: String,
    pub organization: String,
    /// The Unix time at which the run is stopped.
    pub deadline_ms: u64,
}

/// The variables of the tool, as far as `required_envvars` and `required_secret_envvars` name them.
#[derive(Debug, Clone, Default, Deserialize)]
#[non_exhaustive]
pub struct Config {
    pub envvars: Variables,
    pub secrets: Variables,
}

#[derive(Debug, Clone, Deserialize)]
#[non_exhaustive]
pub struct Conversation {
    pub conversation_id: String,
    pub interaction_id: String,
    pub user_id: String,
}

/// What is known of the user. Records keep only the names of the sensitive ones.
#[derive(Debug, Clone, Default, Deserialize)]
#[non_exhaustive]
pub struct UserVariables {
    pub nonsensitive: Variables,
    pub sensitive: Variables,
}

/// Names with their values. Its `Debug` shows names only, so that a printed context carries no value.
#[derive(Clone, Default, Deserialize)]
#[serde(transparent)]
pub struct Variables(BTreeMap<String, String>);

impl Context {
    /// Reports progress: a text, or a [`StatusEvent`]. It is sent at once; what is beyond the bounds of a run is dropped,
    /// and the run's record says how many.
    pub fn send_status_event(&self, event: impl Into<StatusEvent>) {
        host::send_status_event(&event.into());
    }
}

impl Metadata {
    /// Whether this run belongs to a simulated conversation.
    pub fn is_simulation(&self) -> bool {
        self.invocation_mode == "conversation-simulation"
    }
}

impl Variables {
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }
}

/// Panics for a name that the version does not declare.
impl Index<&str> for Variables {
    type Output = str;

    fn index(&self, name: &str) -> &str {
        &self.0[name]
    }
}

impl<Name: Into<String>, Value: Into<String>> FromIterator<(Name, Value)> for Variables {
    fn from_iter<I: IntoIterator<Item = (Name, Value)>>(pairs: I) -> Self {
        Self(pairs.into_iter().map(|(name, value)| (name.into(), value.into())).collect())
    }
}

impl fmt::Debug for Variables {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_set().entries(self.names()).finish()
    }
}
