//! Errors of commands, with a hint at the next step and the exit code.
//!
//! Exit codes: 0 success, 1 refused or failed, 2 an invalid command line (as in clap).

use std::io;
use std::process::ExitCode;

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
    Refused { message: String, hint: String },
    #[error("not logged in")]
    NotLoggedIn,
    #[error("{url} does not answer: {reason}")]
    Unreachable { url: String, reason: String },
    #[error("{detail}")]
    Server { status: u16, code: String, detail: String, build_id: Option<String> },
    /// A refusal that ended a build, with the command that shows the build's log.
    #[error("{refusal}")]
    InBuild { refusal: Box<Self>, log_command: String },
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
        Self::Refused { message: message.into(), hint: hint.into() }.into()
    }

    /// Adds a hint at the build's log to a refused publish, if there was a build.
    pub fn in_build_of(tool: &str, error: anyhow::Error) -> anyhow::Error {
        match error.downcast::<Self>() {
            Ok(Self::Server { status, code, detail, build_id: Some(build_id) }) => {
                let log_command = format!("lathe tool log {tool} {build_id}");
                let refusal = Self::Server { status, code, detail, build_id: Some(build_id) };
                Self::InBuild { refusal: Box::new(refusal), log_command }.into()
            }
            Ok(other) => other.into(),
            Err(error) => error,
        }
    }

    fn hint(&self) -> Option<String> {
        if let Self::InBuild { refusal, log_command } = self {
            let log = format!("`{log_command}` shows the build log");
            return Some(refusal.hint().map_or_else(|| log.clone(), |hint| format!("{hint}; {log}")));
        }
        self.plain_hint().map(str::to_owned)
    }

    fn plain_hint(&self) -> Option<&str> {
        match self {
            Self::Usage { hint, .. } | Self::Refused { hint, .. } => Some(hint),
            Self::InBuild { .. } => None,
            Self::NotLoggedIn => Some(
                "run `lathe login --url URL --org ORG --user USER --api-key-id ID`; `lathe org create` creates a key",
            ),
            Self::Unreachable { .. } => Some(
                "check that `lathe serve` runs there; `lathe doctor` checks the connection, `lathe login` changes the address",
            ),
            Self::Server { status, code, .. } => hint_for_refusal(*status, code),
            Self::ConnectionLost { .. } => Some(
                "the server goes on with the work; `lathe tool versions TOOL` and `lathe history list` show the result",
            ),
            Self::UnexpectedResponse { .. } => {
                Some("check the URL given to `lathe login`, and that server and client are the same release")
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

/// Prefers the hint for the error code, which is more specific than the status.
fn hint_for_refusal(status: u16, code: &str) -> Option<&'static str> {
    hint_for_code(code).or_else(|| hint_for_status(status))
}

/// Hints for error codes of the registry, which a server and a local data directory both return.
fn hint_for_code(code: &str) -> Option<&'static str> {
    match code {
        "already_exists" => Some("choose another name"),
        "operation_in_progress" => Some("wait until the other operation has ended, then try again"),
        "variables_missing" => Some("`lathe envvar set TOOL NAME=VALUE` sets them"),
        "variable_required" => Some("deprecate the versions that require it, or set it to another value"),
        "unknown_branch" | "unknown_commit" | "missing_project_directory" => {
            Some("commit and push it first; `git push` pushes the branch that is checked out")
        }
        "user_unknown" => Some("`lathe user add USER --role ROLE` adds the user"),
        "role_unknown" => Some("`lathe role list` lists the roles"),
        "role_built_in" => Some("`lathe role create` creates a custom role"),
        "role_in_use" => {
            Some("`lathe user list` shows the users with this role; `lathe user set-role` changes a user's role")
        }
        "last_administrator" => Some("make another user an administrator first: `lathe user set-role USER admin`"),
        "data_directory_in_use" => Some("stop that server, or choose another directory with --data"),
        "database_newer" => Some("a newer release of lathe wrote this data directory; use that release or a later one"),
        _ => None,
    }
}

fn hint_for_status(status: u16) -> Option<&'static str> {
    match status {
        401 => Some("the key, its id or the user is not valid; run `lathe login` again"),
        403 => Some("ask an administrator of the organisation for the permission"),
        404 => Some("`lathe tool list` lists the tools, `lathe tool versions NAME` the versions of one"),
        429 | 503 => Some("the server is busy; try again in a moment"),
        500 => Some("the server's log has the cause; search it for the request id"),
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
    let message = crate::output::printable(&message(error));
    // A closed stderr cannot be reported.
    let _ = writeln!(stderr, "{}error:{} {message}", crate::output::RED, crate::output::RESET);
    if let Some(hint) = hint(error) {
        let _ = writeln!(stderr, "{}hint:{} {hint}", crate::output::DIM, crate::output::RESET);
    }
}

/// Joins the causes, outermost first, without those that the message before them ends with.
fn message(error: &anyhow::Error) -> String {
    error.chain().map(ToString::to_string).fold(String::new(), |message, cause| match message {
        message if message.is_empty() => cause,
        message if message.ends_with(&cause) => message,
        message => format!("{message}: {cause}"),
    })
}

fn hint(error: &anyhow::Error) -> Option<String> {
    let of_registry = || error.chain().find_map(|cause| cause.downcast_ref::<registry::Error>());
    match failure_in(error) {
        Some(failure) => failure.hint(),
        None if error.is::<api::ServerError>() => {
            Some("give another address with --listen, or stop the program that uses this one".to_owned())
        }
        None => of_registry().and_then(|error| hint_for_code(error.code())).map(str::to_owned),
    }
}

fn failure_in(error: &anyhow::Error) -> Option<&Failure> {
    error.chain().find_map(|cause| cause.downcast_ref::<Failure>())
}

/// Whether the reader of stdout has closed it, as in `lathe tool list | head -1`, which is not a failure.
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
    fn a_repeated_cause_is_shown_once() {
        let error = anyhow::anyhow!("disk full").context("cannot write: disk full").context("step 3");
        assert_eq!(message(&error), "step 3: cannot write: disk full");
    }

    #[test]
    fn the_hint_for_a_code_wins_over_that_for_a_status() {
        assert_eq!(hint_for_refusal(409, "already_exists"), Some("choose another name"));
        assert_eq!(hint_for_refusal(503, "database_busy"), hint_for_status(503));
        assert_eq!(hint_for_refusal(400, "anything"), None);
    }

    #[test]
    fn the_hint_for_a_failed_build_names_its_log() {
        let server = |build_id: Option<&str>| Failure::Server {
            status: 400,
            code: "variables_missing".to_owned(),
            detail: "no".to_owned(),
            build_id: build_id.map(str::to_owned),
        };
        let error = Failure::in_build_of("greet", server(Some("b1")).into());
        let hint = hint(&error).expect("a hint");
        assert!(hint.contains("lathe envvar set") && hint.contains("`lathe tool log greet b1`"), "{hint}");
        assert_eq!(message(&error), "no");
        let error = Failure::in_build_of("greet", server(None).into());
        assert!(super::hint(&error).is_some_and(|hint| !hint.contains("log")));
    }

    #[test]
    fn the_hint_survives_context() {
        let error = Err::<(), _>(Failure::refused("no", "do this")).context("step").expect_err("an error");
        assert_eq!(failure_in(&error).and_then(Failure::hint).as_deref(), Some("do this"));
    }
}
