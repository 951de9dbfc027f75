//! The report of an error: text on stderr, with `--json` also a document on stdout, and the exit code.

use std::io::{self, Write};
use std::process::ExitCode;

use registry::visible_document;
use serde_json::{Value, json};

use crate::failure::{Failure, INVALID_COMMAND_LINE, Outcome, find_hint_for, find_hint_for_io};
use crate::output::{DIM, RED, RESET, escape_hidden};

/// The code of errors on this machine that have no code of their own, such as a file that cannot be read.
const LOCAL_FAILURE: &str = "local_failure";

/// How errors are reported.
#[derive(Clone, Copy, Debug)]
pub struct ErrorReport {
    pub is_json: bool,
    /// Whether the text has the error's code.
    pub is_verbose: bool,
}

/// Reports an error and chooses the exit code.
pub fn report_end(answer: anyhow::Result<Outcome>, report: ErrorReport) -> ExitCode {
    match answer {
        Ok(Outcome::Done) => ExitCode::SUCCESS,
        Ok(Outcome::Failed) => ExitCode::FAILURE,
        Err(error) if is_closed_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            report.show(&error);
            ExitCode::from(find_failure(&error).map_or(1, Failure::exit_code))
        }
    }
}

impl ErrorReport {
    /// A closed stream is ignored.
    fn show(self, error: &anyhow::Error) {
        if self.is_json {
            let _ =
                writeln!(anstream::stdout().lock(), "{}", visible_document(&format!("{:#}", build_document(error))));
        }
        let mut stderr = anstream::stderr().lock();
        let _ = writeln!(stderr, "{RED}error:{RESET} {}", escape_hidden(&join_causes(error)));
        if let Some(hint) = find_hint(error) {
            let _ = writeln!(stderr, "{DIM}hint:{RESET} {}", escape_hidden(&hint));
        }
        if self.is_verbose {
            let status = find_failure(error).and_then(Failure::status).map(|status| format!(", HTTP status {status}"));
            let _ =
                writeln!(stderr, "{DIM}code:{RESET} {}{}", escape_hidden(find_code(error)), status.unwrap_or_default());
        }
    }

    /// Reports an invalid command line, of which clap has printed the text.
    pub fn show_invalid_command_line(self, message: &str) {
        if self.is_json {
            let error = json!({"code": INVALID_COMMAND_LINE, "message": message, "hint": null, "status": null});
            let text = visible_document(&format!("{:#}", json!({ "error": error })));
            let _ = writeln!(anstream::stdout().lock(), "{text}");
        }
    }
}

fn build_document(error: &anyhow::Error) -> Value {
    let status = find_failure(error).and_then(Failure::status);
    json!({"error": {"code": find_code(error), "message": join_causes(error), "hint": find_hint(error), "status": status}})
}

/// Joins the causes, outermost first, without those that the message before them ends with.
fn join_causes(error: &anyhow::Error) -> String {
    error.chain().map(ToString::to_string).fold(String::new(), |message, cause| match message {
        message if message.is_empty() => cause,
        message if message.ends_with(&cause) => message,
        message => format!("{message}: {cause}"),
    })
}

fn find_hint(error: &anyhow::Error) -> Option<String> {
    match find_failure(error) {
        Some(failure) => failure.hint(),
        None if error.is::<api::ListenError>() => {
            Some("give another address with --listen, or stop the program that uses this one".to_owned())
        }
        None => {
            let of_registry = find_registry_error(error).and_then(find_hint_for);
            of_registry.or_else(|| Some(find_hint_for_io(find_io_error(error)?.kind())?.to_owned()))
        }
    }
}

/// The stable code of an error.
fn find_code(error: &anyhow::Error) -> &str {
    let of_failure = find_failure(error).map(Failure::code);
    let of_build = || error.chain().find_map(|cause| cause.downcast_ref::<builder::Error>()).map(builder::Error::code);
    let of_registry = || find_registry_error(error).map(registry::Error::code);
    of_failure.or_else(of_build).or_else(of_registry).unwrap_or(LOCAL_FAILURE)
}

fn find_failure(error: &anyhow::Error) -> Option<&Failure> {
    error.chain().find_map(|cause| cause.downcast_ref::<Failure>())
}

fn find_registry_error(error: &anyhow::Error) -> Option<&registry::Error> {
    error.chain().find_map(|cause| cause.downcast_ref::<registry::Error>())
}

/// The innermost error of a file or a connection.
fn find_io_error(error: &anyhow::Error) -> Option<&io::Error> {
    error.chain().rev().find_map(|cause| cause.downcast_ref::<io::Error>())
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
        assert_eq!(join_causes(&error), "step 3: cannot write: disk full");
    }

    #[test]
    fn an_error_of_a_file_has_a_next_step() {
        let hint_of = |kind: io::ErrorKind| find_hint(&anyhow::Error::from(io::Error::from(kind)).context("opening x"));
        assert!(hint_of(io::ErrorKind::AlreadyExists).is_some_and(|hint| hint.contains("another directory")));
        assert!(hint_of(io::ErrorKind::NotFound).is_some_and(|hint| hint.contains("check the path")));
        assert_eq!(hint_of(io::ErrorKind::InvalidData), None);
    }

    #[test]
    fn hint_and_code_survive_context() {
        let error = Err::<(), _>(Failure::coded("no_way", "no", "do this")).context("step").expect_err("an error");
        assert_eq!((find_hint(&error).as_deref(), find_code(&error)), (Some("do this"), "no_way"));
        assert_eq!(build_document(&error)["error"]["message"], "step: no");
        assert_eq!(find_code(&anyhow::anyhow!("disk full")), LOCAL_FAILURE);
    }
}
