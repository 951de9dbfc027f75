//! Maps the error that stopped a guest to the outcome of its run.

use std::time::Duration;

use wasmtime::component::ResourceTableError;
use wasmtime::{Error, FrameInfo, Trap, WasmBacktrace};
use wasmtime_wasi::I32Exit;

use crate::interaction::{INPUT_REQUIRED, InputRequired};
use crate::limits::Limits;
use crate::sandbox::outcome::{Outcome, build_cpu_timeout, failed};
use crate::sandbox::tape::{End, ReplayStopped};
use crate::text::cut;

/// The engine reports these errors only as text. The hostile test suite fails when the texts change.
const NO_HANDLE_LEFT: &str = "store handle limit exceeded";
const TOO_MUCH_COPIED: &str = "fuel allocated for hostcalls has been exhausted";
/// Start of the last line that a panicking Rust tool prints.
const PANICKED: &str = "panicked at ";
/// Crates whose functions are not the author's.
const FOREIGN_CRATES: [&str; 7] = ["alloc", "compiler_builtins", "core", "dlmalloc", "lathe", "std", "wit_bindgen"];
/// Longest name of a function in a stack trace. Names of generic functions have the names of their types.
const NAME_BYTES_MAX: usize = 300;
/// Longest message of the engine. Names in a component may be long.
const MESSAGE_BYTES_MAX: usize = 4 << 10;

/// The limit for which the host stops a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum LimitExceeded {
    #[error("the run exceeded its computing time limit")]
    Cpu,
    #[error("the run exceeded its host call limit")]
    HostCalls,
}

/// Context of an error that occurred before the tool was called.
#[derive(Debug, thiserror::Error)]
#[error("the component could not be instantiated")]
struct NotInstantiated;

pub(crate) fn mark_instantiation(error: Error) -> Error {
    error.context(NotInstantiated)
}

/// Returns how the tape ends for a run that was stopped at a place that depends on the machine: by a limit that is
/// checked from time to time, or by the end of its tape.
pub(crate) fn find_early_end(error: &Error) -> Option<End> {
    if error.is::<ReplayStopped>() {
        return Some(End::Stopped);
    }
    error.is::<LimitExceeded>().then_some(End::Clock)
}

/// The outcome of a run that was stopped. `memory_refused` says whether the run was ever refused memory.
pub(crate) fn build_outcome(error: &Error, limits: &Limits, memory_refused: bool) -> Outcome {
    if let Some(limit) = error.downcast_ref::<LimitExceeded>() {
        return match limit {
            LimitExceeded::Cpu => build_cpu_timeout(Duration::from_millis(limits.cpu_ms)),
            LimitExceeded::HostCalls => failed(
                "limit_hostcalls",
                format!("the tool called host functions more than {} times", limits.host_calls),
            ),
        };
    }
    if error.is::<ReplayStopped>() {
        return failed("replay_stopped", "the replay stopped where it differs from the recorded run");
    }
    if let Some(required) = error.downcast_ref::<InputRequired>() {
        return failed(INPUT_REQUIRED, required.to_string());
    }
    let message = write_message(error);
    // A guest that does not check for a failed allocation writes out of bounds.
    let is_memory_trap = matches!(error.downcast_ref(), Some(Trap::UnreachableCodeReached | Trap::MemoryOutOfBounds));
    if is_memory_trap && memory_refused {
        return failed("out_of_memory", format!("the tool aborted for want of memory: {message}"));
    }
    failed(find_kind(error, &message), message)
}

/// The panic message that a Rust tool printed before its instance was stopped.
pub(crate) fn find_panic(error: &Error, memory_refused: bool, printed: &str) -> Option<Outcome> {
    if memory_refused || !matches!(error.downcast_ref(), Some(Trap::UnreachableCodeReached)) {
        return None;
    }
    let begins_line = |at: &usize| *at == 0 || printed.as_bytes()[at - 1] == b'\n';
    let at = printed.rmatch_indices(PANICKED).map(|(at, _)| at).find(begins_line)?;
    let (place, message) = printed[at + PANICKED.len()..].split_once(": ")?;
    Some(Outcome::Failed {
        exception_type: "panic".into(),
        exception_message: cut(message.trim_end().to_owned(), MESSAGE_BYTES_MAX),
        exception_stack_trace: vec![cut(place.to_owned(), MESSAGE_BYTES_MAX)],
    })
}

/// Adds the functions of a compiled tool in which it was stopped, innermost first, to an outcome without a stack trace. The
/// functions of an interpreter would tell an author nothing.
pub(crate) fn with_functions(mut outcome: Outcome, error: &Error) -> Outcome {
    if let Outcome::Failed { exception_stack_trace, .. } = &mut outcome
        && exception_stack_trace.is_empty()
        && let Some(trace) = error.downcast_ref::<WasmBacktrace>()
    {
        let names = trace.frames().iter().filter_map(FrameInfo::func_name).filter_map(find_author_function);
        exception_stack_trace.extend(names.map(|name| format!("    at {}", cut(name.to_owned(), NAME_BYTES_MAX))));
    }
    outcome
}

/// The name of a function of the author's code, without the hash at its end. `None` for functions of Rust's libraries, of the
/// package `lathe` and of C.
fn find_author_function(name: &str) -> Option<&str> {
    let plain = match name.rsplit_once("::h") {
        Some((plain, hash)) if hash.len() == 16 && hash.bytes().all(|byte| byte.is_ascii_hexdigit()) => plain,
        _ => name,
    };
    let path = plain.trim_start_matches(['<', '&']);
    let is_foreign =
        FOREIGN_CRATES.iter().any(|name| path.strip_prefix(name).is_some_and(|rest| rest.starts_with("::")));
    (plain.contains("::") && !is_foreign).then_some(plain)
}

/// The message of the engine, or of the guest, about the end of a run.
pub(crate) fn write_message(error: &Error) -> String {
    if let Some(I32Exit(code)) = error.downcast_ref() {
        let message = match code {
            0 => "the tool exited without a result",
            // The interface distinguishes success and failure only.
            _ => "the tool exited with a failure code",
        };
        return message.to_owned();
    }
    match error.downcast_ref::<Trap>() {
        Some(Trap::StackOverflow) => "the call stack is exhausted".to_owned(),
        Some(trap) => trap.to_string(),
        None => cut(error.root_cause().to_string(), MESSAGE_BYTES_MAX),
    }
}

fn find_kind(error: &Error, message: &str) -> &'static str {
    match error.downcast_ref() {
        Some(I32Exit(0)) => return "no_result",
        Some(I32Exit(_)) => return "exit",
        None => {}
    }
    match error.downcast_ref() {
        Some(Trap::StackOverflow) => return "stack_overflow",
        Some(_) => return "trap",
        None => {}
    }
    let is_full = matches!(error.downcast_ref(), Some(ResourceTableError::Full));
    if is_full || message.contains(NO_HANDLE_LEFT) {
        return "limit_handles";
    }
    if message.contains(TOO_MUCH_COPIED) {
        // A host call has a guest backtrace; the return value of a guest has none.
        return if error.is::<WasmBacktrace>() { "limit_hostcall_bytes" } else { "output_too_large" };
    }
    if error.is::<NotInstantiated>() { "instantiate_failed" } else { "trap" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_reported_as_it_was_printed() {
        let reported = |printed: &str, memory_refused| {
            let ended = find_panic(&Trap::UnreachableCodeReached.into(), memory_refused, printed);
            let Some(Outcome::Failed { exception_type, exception_message, exception_stack_trace }) = ended else {
                return String::new();
            };
            format!("{exception_type}|{exception_message}|{}", exception_stack_trace.join("|"))
        };
        let printed = "so far panicked at a: b\npanicked at src/lib.rs:3:5: left: 1\nright: 2\n";
        assert_eq!(reported(printed, false), "panic|left: 1\nright: 2|src/lib.rs:3:5");
        for (printed, memory_refused) in [(printed, true), ("never panicked at x: y", false), ("panicked at x", false)]
        {
            assert_eq!(reported(printed, memory_refused), "", "{printed}");
        }
        assert!(find_panic(&LimitExceeded::Cpu.into(), false, printed).is_none());
    }

    #[test]
    fn functions_of_the_author_are_named() {
        for (name, expected) in [
            ("greet::deep::h0123456789abcdef", Some("greet::deep")),
            ("greet::Tree<T>::walk", Some("greet::Tree<T>::walk")),
            (
                "<greet::Tree as core::fmt::Display>::fmt::h0123456789abcdef",
                Some("<greet::Tree as core::fmt::Display>::fmt"),
            ),
            ("<alloc::vec::Vec<T> as core::ops::Drop>::drop", None),
            ("lathe::runtime::run", None),
            ("memcpy", None),
        ] {
            assert_eq!(find_author_function(name), expected, "{name}");
        }
    }

    fn check(error: impl Into<Error>, memory_refused: bool, expected_type: &str, expected_message: &str) {
        let Outcome::Failed { exception_type, exception_message, .. } =
            build_outcome(&error.into(), &Limits::DEFAULT, memory_refused)
        else {
            panic!("it failed")
        };
        assert_eq!((exception_type.as_str(), exception_message.as_str()), (expected_type, expected_message));
    }

    #[test]
    fn every_end_has_its_name() {
        check(LimitExceeded::Cpu, false, "timeout_cpu", "the tool computed longer than 10 s");
        check(
            LimitExceeded::HostCalls,
            false,
            "limit_hostcalls",
            "the tool called host functions more than 1000000 times",
        );
        check(InputRequired, true, "input_required", "the tool asked a question, and runs again with its answer");
        check(I32Exit(0), false, "no_result", "the tool exited without a result");
        check(I32Exit(9), true, "exit", "the tool exited with a failure code");
        check(Trap::StackOverflow, true, "stack_overflow", "the call stack is exhausted");
        let outside = "wasm trap: out of bounds memory access";
        check(Trap::MemoryOutOfBounds, false, "trap", outside);
        let aborted = "wasm trap: wasm `unreachable` instruction executed";
        check(Trap::UnreachableCodeReached, false, "trap", aborted);
        let starved = |trap: &str| format!("the tool aborted for want of memory: {trap}");
        check(Trap::UnreachableCodeReached, true, "out_of_memory", &starved(aborted));
        check(Trap::MemoryOutOfBounds, true, "out_of_memory", &starved(outside));
        check(ResourceTableError::Full, false, "limit_handles", "resource table has no free keys");
        check(Error::msg("no"), false, "trap", "no");
        check(mark_instantiation(Error::msg("no")), false, "instantiate_failed", "no");
        check(
            mark_instantiation(LimitExceeded::Cpu.into()),
            false,
            "timeout_cpu",
            "the tool computed longer than 10 s",
        );
    }
}
