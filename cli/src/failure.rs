//! Errors of commands, with a hint at the next step, a stable code and the exit code.
//!
//! Exit codes: 0 success, 1 refused or failed, 2 an invalid command line (as in clap).

mod hints;

pub use hints::{find_hint_for, find_hint_for_io};

/// The code of refusals that need no code of their own.
const REFUSED: &str = "refused";
pub const INVALID_COMMAND_LINE: &str = "invalid_command_line";

/// The outcome of a command that ran without an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    Done,
    /// The command worked and its answer is negative: a failed run, a failed check, a difference.
    Failed,
}

#[derive(Debug, thiserror::Error)]
pub enum Failure {
    #[error("{message}")]
    Usage { message: String, hint: String },
    #[error("{message}")]
    Refused { code: &'static str, message: String, hint: String },
    /// `profile` names a profile other than the default one.
    #[error("not logged in{}", describe_profile(.profile.as_deref()))]
    NotLoggedIn { profile: Option<String> },
    #[error("{url} does not answer: {reason}")]
    Unreachable { url: String, reason: String },
    #[error("{detail}")]
    Server { status: u16, code: String, detail: String, build_id: Option<String> },
    /// A failure with one more hint, which only its command knows.
    #[error("{failure}")]
    Advised { failure: Box<Self>, advice: String },
    #[error("the connection to {url} was lost before the result: {reason}")]
    ConnectionLost { url: String, reason: String },
    #[error("unexpected response from {url}: {reason}")]
    UnexpectedResponse { url: String, reason: String },
}

impl Failure {
    pub fn usage(message: impl Into<String>, hint: impl Into<String>) -> anyhow::Error {
        Self::Usage { message: message.into(), hint: hint.into() }.into()
    }

    pub fn refused(message: impl Into<String>, hint: impl Into<String>) -> anyhow::Error {
        Self::coded(REFUSED, message, hint)
    }

    /// A refusal that programs can tell from others by its code.
    pub fn coded(code: &'static str, message: impl Into<String>, hint: impl Into<String>) -> anyhow::Error {
        Self::Refused { code, message: message.into(), hint: hint.into() }.into()
    }

    /// Adds hints that name the tool to a refused publish: at the build's log, if anything was built, and at its variables.
    pub fn add_build_hints(tool: &str, error: anyhow::Error) -> anyhow::Error {
        let Some(Self::Server { code, build_id, .. }) = error.downcast_ref::<Self>() else { return error };
        let variables = (code == "variables_missing")
            .then(|| format!("set them, then publish again; `lathe envvar list {tool}` shows the variables"));
        let build = build_id.as_ref().filter(|_| code != "already_published");
        let log = build.map(|build| format!("`lathe tool log {tool} {build}` shows the build log"));
        variables.into_iter().chain(log).fold(error, Self::add_hint)
    }

    /// Adds a hint to a failure.
    pub fn add_hint(error: anyhow::Error, advice: String) -> anyhow::Error {
        match error.downcast::<Self>() {
            Ok(failure) => Self::Advised { failure: Box::new(failure), advice }.into(),
            Err(error) => error,
        }
    }

    /// The failure without added hints.
    fn root(&self) -> &Self {
        match self {
            Self::Advised { failure, .. } => failure.root(),
            other => other,
        }
    }

    /// The stable name of the error, for programs.
    pub fn code(&self) -> &str {
        match self.root() {
            Self::Usage { .. } | Self::Advised { .. } => INVALID_COMMAND_LINE,
            Self::Refused { code, .. } => code,
            Self::NotLoggedIn { .. } => "not_logged_in",
            Self::Unreachable { .. } => "server_unreachable",
            Self::Server { code, .. } if !code.is_empty() => code,
            Self::ConnectionLost { .. } => "connection_lost",
            Self::Server { .. } | Self::UnexpectedResponse { .. } => "unexpected_response",
        }
    }

    /// The HTTP status of a refusal by the server.
    pub fn status(&self) -> Option<u16> {
        match self.root() {
            Self::Server { status, .. } => Some(*status),
            _ => None,
        }
    }

    pub fn exit_code(&self) -> u8 {
        match self.root() {
            Self::Usage { .. } => 2,
            _ => 1,
        }
    }
}

fn describe_profile(profile: Option<&str>) -> String {
    profile.map_or_else(String::new, |profile| format!(" in the profile {profile}"))
}
