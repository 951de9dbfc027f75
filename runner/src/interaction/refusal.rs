//! Why the host refuses questions.

use serde::{Deserialize, Serialize};

/// The host refused questions. The run continues.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InputRefused {
    pub code: InputErrorCode,
    pub message: String,
}

/// The error codes of `scaffold/wit`, which documents them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum InputErrorCode {
    Unavailable,
    Invalid,
    TooMany,
    TooLarge,
}

impl InputRefused {
    pub(crate) fn new(code: InputErrorCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into() }
    }
}
