//! What can go wrong on the way from a command line to its answer, with the next thing to do and the exit code.
//!
//! Exit codes: 0 done, 1 refused or failed, 2 a command line that cannot be understood (clap uses the same).

use std::io;
use std::process::ExitCode;

/// How a command ended when nothing went wrong on the way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    Done,
    /// The command worked and its answer is "no": a tool that failed, a check that found something missing.
    Failed,
}

#[derive(Debug, thiserror::Error)]
pub enum Failure {
    #[error("{message}")]
    Usage { message: String, hint: String },
    #[error("{message}")]
    Refused { message: String, hint: String },
    #[error("not logged in")]
    NotLoggedIn,
    #[error("{url} does not answer: {reason}")]
    Unreachable { url: String, reason: String },
    #[error("{detail}")]
    Server { status: u16, code: String, detail: String },
    #[error("{url} gave an answer that this program does not understand: {reason}")]
    Strange { url: String, reason: String },
}

impl Failure {
    pub fn usage(message: impl Into<String>, hint: impl Into<String>) -> anyhow::Error {
        Self::Usage { message: message.into(), hint: hint.into() }.into()
    }

    pub fn refused(message: impl Into<String>, hint: impl Into<String>) -> anyhow::Error {
        Self::Refused { message: message.into(), hint: hint.into() }.into()
    }

    fn hint(&self) -> Option<&str> {
        match self {
            Self::Usage { hint, .. } | Self::Refused { hint, .. } => Some(hint),
            Self::NotLoggedIn => Some(
                "run `lathe login --url URL --org ORG --user USER --api-key-id ID`; `lathe org create` issues a key",
            ),
            Self::Unreachable { .. } => {
                Some("is `lathe serve` running there? `lathe doctor` checks; `lathe login` changes the address")
            }
            Self::Server { status, .. } => hint_for_status(*status),
            Self::Strange { .. } => {
                Some("check the URL given to `lathe login`, and that both ends have the same release")
            }
        }
    }

    fn exit_code(&self) -> u8 {
        match self {
            Self::Usage { .. } => 2,
            _ => 1,
        }
    }
}

fn hint_for_status(status: u16) -> Option<&'static str> {
    match status {
        401 => Some("run `lathe login` again: the key, its id or the user is not accepted"),
        403 => Some("ask an administrator of the organisation for the permission"),
        404 => Some("`lathe tool list` and `lathe tool versions NAME` show what there is"),
        409 => Some("try again when the other operation has ended"),
        429 | 503 => Some("the server is busy: try again in a moment"),
        500 => Some("the server's log names the cause under that request id"),
        _ => None,
    }
}

/// Reports an error on stderr and chooses the exit code.
pub fn exit_code(answer: anyhow::Result<Outcome>) -> ExitCode {
    match answer {
        Ok(Outcome::Done) => ExitCode::SUCCESS,
        Ok(Outcome::Failed) => ExitCode::FAILURE,
        Err(error) if is_closed_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            report(&error);
            ExitCode::from(failure_in(&error).map_or(1, Failure::exit_code))
        }
    }
}

fn report(error: &anyhow::Error) {
    use std::io::Write;
    let mut stderr = anstream::stderr().lock();
    let message = crate::output::printable(&format!("{error:#}"));
    // Nothing is left to do when stderr itself is closed.
    let _ = writeln!(stderr, "{}error:{} {message}", crate::output::RED, crate::output::RESET);
    if let Some(hint) = failure_in(error).and_then(Failure::hint) {
        let _ = writeln!(stderr, "{}hint:{} {hint}", crate::output::DIM, crate::output::RESET);
    }
}

fn failure_in(error: &anyhow::Error) -> Option<&Failure> {
    error.chain().find_map(|cause| cause.downcast_ref::<Failure>())
}

/// Whoever read our output has gone (`lathe tool list | head -1`): that is no failure.
fn is_closed_pipe(error: &anyhow::Error) -> bool {
    error
        .chain()
        .filter_map(|cause| cause.downcast_ref::<io::Error>())
        .any(|cause| cause.kind() == io::ErrorKind::BrokenPipe)
}

#[cfg(test)]
mod tests {
    use anyhow::Context;

    use super::*;

    #[test]
    fn a_closed_pipe_is_no_failure() {
        let error = anyhow::Error::from(io::Error::from(io::ErrorKind::BrokenPipe)).context("printing");
        assert!(is_closed_pipe(&error));
        assert!(!is_closed_pipe(&anyhow::anyhow!("other")));
    }

    #[test]
    fn the_hint_survives_context() {
        let error = Err::<(), _>(Failure::refused("no", "do this")).context("step").expect_err("an error");
        assert_eq!(failure_in(&error).and_then(Failure::hint), Some("do this"));
    }
}
