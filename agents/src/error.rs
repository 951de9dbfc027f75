//! Errors of agents: refusals of a request, and faults of the host. A run that fails has a failure in its checkpoint.

use registry::QueueFull;
use runner::{ErrorKind, NativeToolRefused};

/// A refusal of a request, or a fault of the host.
#[derive(Debug, thiserror::Error)]
pub enum Error {
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
    pub const fn kind(&self) -> ErrorKind {
        match self {
            Self::AgentRunNotPaused | Self::HumanRequestClosed => ErrorKind::Conflict,
            Self::HumanResponse { .. }
            | Self::RunToolUnknown { .. }
            | Self::ModelNotAllowed { .. }
            | Self::RunTokensExceeded { .. } => ErrorKind::Invalid,
            Self::ModelMissing => ErrorKind::Unavailable,
            Self::Runner(error) => error.kind(),
            Self::Native(_) | Self::Store(_) | Self::Internal { .. } => ErrorKind::Internal,
        }
    }

    /// The stable code for programs.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::AgentRunNotPaused => "run_not_paused",
            Self::HumanRequestClosed => "human_request_closed",
            Self::HumanResponse { .. } => "human_response",
            Self::RunToolUnknown { .. } => "run_tool_unknown",
            Self::ModelNotAllowed { .. } => "model_not_allowed",
            Self::RunTokensExceeded { .. } => "run_tokens_exceeded",
            Self::ModelMissing => "model_missing",
            Self::Native(_) => "native_tool",
            Self::Store(_) => "store",
            Self::Runner(error) => error.code(),
            Self::Internal { .. } => "internal",
        }
    }
}
