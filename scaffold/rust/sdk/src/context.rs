//! The arguments of a tool besides its input.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Index;

use serde::Deserialize;
use serde_json::Value;

use crate::{ContentBlock, ContentError, InputError, InputResult, LogLevel, LogMessage, Question, StatusEvent, host};

/// The arguments of `run_tool` besides its input.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Context {
    pub metadata: Metadata,
    pub config: Config,
    /// `None` if the caller names no conversation, and in branch tests.
    pub conversation: Option<Conversation>,
    pub user_variables: UserVariables,
}

/// The ids and the mode of the run. Ids are 24 lower-case hexadecimal characters, `version` is `major.minor.patch`.
#[derive(Debug, Clone, Deserialize)]
#[non_exhaustive]
pub struct Metadata {
    /// `regular`, or `conversation-simulation`, in which the run must have no side effects.
    pub invocation_mode: String,
    pub invocation_id: String,
    pub tool_id: String,
    pub tool_name: String,
    pub version: String,
    pub organization: String,
    /// The Unix time at which the run is stopped.
    pub deadline_ms: u64,
}

/// The variables of the tool that `required_envvars` and `required_secret_envvars` list.
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

/// Variables of the user, which the caller supplies. Records keep only the names of the sensitive ones.
#[derive(Debug, Clone, Default, Deserialize)]
#[non_exhaustive]
pub struct UserVariables {
    pub nonsensitive: Variables,
    pub sensitive: Variables,
}

/// Names with their values. `Debug` prints names only, so that a printed context contains no value.
#[derive(Clone, Default, Deserialize)]
#[serde(transparent)]
pub struct Variables(BTreeMap<String, String>);

impl Context {
    /// Sends a status event, a text or a [`StatusEvent`], at once. Events beyond the limits of the run are dropped, and
    /// the record of the run counts them.
    ///
    /// # Panics
    /// When the progress or the total is not a finite number.
    #[track_caller]
    pub fn send_status_event(&self, event: impl Into<StatusEvent>) {
        let event = event.into();
        assert!(event.is_finite(), "send_status_event: progress and total must be finite numbers");
        host::send_status_event(&event);
    }

    /// Adds a content block to the result: a text, or a [`ContentBlock`]. A tool that fails keeps the blocks that it added
    /// before. A run adds at most 32 blocks with 1 MiB in all.
    ///
    /// # Errors
    /// When the block is malformed, or exceeds the limits.
    pub fn add_content(&self, block: impl Into<ContentBlock>) -> Result<(), ContentError> {
        let block = block.into();
        block.check()?;
        host::add_content(block)
    }

    /// Asks the person or the client behind the call. Without an answer, the run ends here, and the tool runs again from its
    /// start when the client has answered. `key` names the question within the call.
    ///
    /// # Errors
    /// When nobody can answer, or the question is malformed or exceeds the limits.
    pub fn request_input(&self, key: &str, question: &Question) -> Result<InputResult, InputError> {
        let mut results = self.request_inputs(&[(key, question.clone())])?;
        Ok(results.pop().unwrap_or(InputResult(Value::Null)))
    }

    /// Asks several questions at once, like [`Context::request_input`], and returns their results in the same order.
    ///
    /// # Errors
    /// When nobody can answer one of them, or the questions are malformed or exceed the limits.
    pub fn request_inputs(&self, questions: &[(&str, Question)]) -> Result<Vec<InputResult>, InputError> {
        let results = host::request_input(questions)?;
        let parsed = results.iter().map(|result| InputResult(serde_json::from_str(result).unwrap_or_default()));
        Ok(parsed.collect())
    }

    /// Sends a log message, which becomes a line of the printed text of the run. Messages beyond the limits are dropped.
    pub fn log(&self, level: LogLevel, data: impl Into<Value>) {
        self.send_log(LogMessage::new(level, data));
    }

    /// Sends a log message like [`Context::log`], with the name of a logger.
    pub fn send_log(&self, message: LogMessage) {
        host::send_log(message);
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
