//! The result of a check.

/// One part of this machine, and its state.
pub struct Check {
    pub name: &'static str,
    pub state: CheckState,
    pub detail: String,
    /// A command that provides what is missing.
    pub remedy: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum CheckState {
    Ok,
    Missing,
    /// Missing, and needed by some features only.
    Optional,
}

impl CheckState {
    pub fn word(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Missing => "missing",
            Self::Optional => "optional",
        }
    }
}

pub fn found(name: &'static str, detail: String) -> Check {
    Check { name, state: CheckState::Ok, detail, remedy: None }
}

pub fn missing(name: &'static str, detail: String, remedy: Option<String>) -> Check {
    Check { name, state: CheckState::Missing, detail, remedy }
}

pub fn optional(name: &'static str, detail: String, remedy: Option<String>) -> Check {
    Check { name, state: CheckState::Optional, detail, remedy }
}
