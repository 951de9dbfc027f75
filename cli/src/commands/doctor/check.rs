//! The result of a check.

/// One part of this machine, and its state.
pub struct Check {
    pub name: &'static str,
    pub state: State,
    pub detail: String,
    /// A command that provides what is missing.
    pub remedy: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum State {
    Ok,
    Missing,
    /// Missing, and needed by some features only.
    Optional,
}

impl State {
    pub fn word(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Missing => "missing",
            Self::Optional => "optional",
        }
    }
}

pub fn found(name: &'static str, detail: String) -> Check {
    Check { name, state: State::Ok, detail, remedy: None }
}

pub fn missing(name: &'static str, detail: String, remedy: Option<String>) -> Check {
    Check { name, state: State::Missing, detail, remedy }
}

pub fn optional(name: &'static str, detail: String, remedy: Option<String>) -> Check {
    Check { name, state: State::Optional, detail, remedy }
}
