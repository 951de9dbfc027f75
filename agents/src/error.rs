//! Errors of agents: refusals of a request, and faults of the host. A run that fails has a failure in its checkpoint.

use registry::statements::WriteError;
use registry::{QueueFull, ToolId};
use runner::{ErrorKind, NativeToolRefused};

use crate::domain::agents::{AssignmentProblem, StateProblem};

/// A refusal of a request, or a fault of the host.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("assignment of the tool {tool}: {problem}")]
    AssignmentUnusable { tool: ToolId, problem: Box<AssignmentProblem> },
    #[error("{problem}")]
    StateUnusable { problem: Box<StateProblem> },
    #[error("the conversation has ended")]
    ConversationEnded,
    #[error("the {what} was changed meanwhile; read it again, and repeat the change if it still applies")]
    Changed { what: &'static str },
    #[error("the link has expired; get the artifact again for another one")]
    DownloadExpired,
    #[error(
        "{whose} take {used} bytes of the Library, this needs {added} more, and at most {limit} are allowed: delete items that are not \
        needed any more, which frees their bytes at once"
    )]
    LibraryFull { whose: String, used: u64, added: u64, limit: u64 },
    #[error("the run does not wait for a person")]
    AgentRunNotPaused,
    #[error("the request has been answered, has expired, or its run was cancelled")]
    HumanRequestClosed,
    #[error("the answer does not fit the question: {reason}")]
    HumanResponse { reason: String },
    #[error("the agent has no tool {name} that this user may call, and there is no control tool of this name{meant}")]
    RunToolUnknown {
        name: String,
        /// `; did you mean …?`, or an empty text.
        meant: String,
    },
    #[error("the operator of this server does not allow the model {name}; allowed models: {}", allowed.join(", "))]
    ModelNotAllowed { name: String, allowed: Vec<String> },
    #[error("max_tokens is {tokens}, but the operator of this server allows at most {tokens_max} tokens for a run")]
    RunTokensExceeded { tokens: u64, tokens_max: u64 },
    #[error("the server has no model; its operator has to set `--model-url` and `--model`")]
    ModelMissing,
    #[error(transparent)]
    Native(#[from] NativeToolRefused),
    #[error(transparent)]
    Store(#[from] registry::Error),
    #[error(transparent)]
    Runner(#[from] runner::Error),
    #[error("{message}")]
    Internal { message: String },
}

impl From<StateProblem> for Error {
    fn from(problem: StateProblem) -> Self {
        Self::StateUnusable { problem: Box::new(problem) }
    }
}

impl From<registry::statements::Failure> for Error {
    fn from(failure: registry::statements::Failure) -> Self {
        Self::Store(failure.into())
    }
}

impl WriteError for Error {
    fn store_error(&self) -> Option<&registry::Error> {
        match self {
            Self::Store(error) => Some(error),
            _ => None,
        }
    }
}

impl From<QueueFull> for Error {
    fn from(full: QueueFull) -> Self {
        Self::Runner(full.into())
    }
}

impl Error {
    pub(crate) fn internal(message: impl Into<String>) -> Self {
        Self::Internal { message: message.into() }
    }

    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::AgentRunNotPaused | Self::HumanRequestClosed | Self::ConversationEnded | Self::Changed { .. } => {
                ErrorKind::Conflict
            }
            Self::AssignmentUnusable { .. }
            | Self::StateUnusable { .. }
            | Self::DownloadExpired
            | Self::LibraryFull { .. }
            | Self::HumanResponse { .. }
            | Self::RunToolUnknown { .. }
            | Self::ModelNotAllowed { .. }
            | Self::RunTokensExceeded { .. } => ErrorKind::Invalid,
            Self::ModelMissing => ErrorKind::Unavailable,
            Self::Runner(error) => error.kind(),
            Self::Store(error) => classify(error.kind()),
            Self::Native(_) | Self::Internal { .. } => ErrorKind::Internal,
        }
    }

    /// The stable code for programs.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::AssignmentUnusable { .. } => "assignment_unusable",
            Self::StateUnusable { .. } => "state_unusable",
            Self::ConversationEnded => "conversation_ended",
            Self::Changed { .. } => "changed_meanwhile",
            Self::DownloadExpired => "download_expired",
            Self::LibraryFull { .. } => "quota_exceeded",
            Self::AgentRunNotPaused => "run_not_paused",
            Self::HumanRequestClosed => "human_request_closed",
            Self::HumanResponse { .. } => "human_response",
            Self::RunToolUnknown { .. } => "run_tool_unknown",
            Self::ModelNotAllowed { .. } => "model_not_allowed",
            Self::RunTokensExceeded { .. } => "run_tokens_exceeded",
            Self::ModelMissing => "model_missing",
            Self::Native(_) => "native_tool",
            Self::Store(error) => error.code(),
            Self::Runner(error) => error.code(),
            Self::Internal { .. } => "internal",
        }
    }
}

const fn classify(kind: registry::ErrorKind) -> ErrorKind {
    match kind {
        registry::ErrorKind::NotFound => ErrorKind::NotFound,
        registry::ErrorKind::Conflict => ErrorKind::Conflict,
        registry::ErrorKind::Invalid => ErrorKind::Invalid,
        registry::ErrorKind::Unavailable => ErrorKind::Unavailable,
        registry::ErrorKind::Corrupt | registry::ErrorKind::Internal => ErrorKind::Internal,
    }
}
