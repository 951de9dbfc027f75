//! The errors of reading a project's directory.

use crate::error::{Error, Location};

pub const STAGE: &str = "checkout";

/// The refusal of a file of the project.
pub fn refuse(check: &str, message: &str, path: &str) -> Error {
    Error::failed(STAGE, check, message).at(Location::file(path))
}

/// The error of a project that cannot be read.
pub fn unreadable(error: &impl std::fmt::Display) -> Error {
    Error::failed(STAGE, "read", format!("the project cannot be read: {error}"))
}
