//! From the error that stopped a guest to the name of its end.

use std::time::Duration;

use wasmtime::component::ResourceTableError;
use wasmtime::{Error, Trap, WasmBacktrace};
use wasmtime_wasi::I32Exit;

use crate::limits::Limits;
use crate::outcome::{Outcome, cut};
use crate::tape::{End, Stopped};

/// The engine says these in words only; the suite of hostile tools notices when it says them otherwise.
const NO_HANDLE_LEFT: &str = "store handle limit exceeded";
const TOO_MUCH_COPIED: &str = "fuel allocated for hostcalls has been exhausted";
/// With this the package for tools in Rust begins the last line that it prints.
const PANICKED: &str = "panicked at ";
/// Of what the engine says; a component can have long names.
const MESSAGE_BYTES_MAX: usize = 4 << 10;

/// What a run has used up when the host stops it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Spent {
    #[error("the run's computing time is spent")]
    Cpu,
    #[error("the run's calls of the host are spent")]
    HostCalls,
}

/// Beside an error: the tool itself was not called yet.
#[derive(Debug, thiserror::Error)]
#[error("the component could not be instantiated")]
struct NotInstantiated;

pub(crate) fn while_instantiated(error: Error) -> Error {
    error.context(NotInstantiated)
}

/// What cut a run off where that depends on the machine: its time, what is looked at from time to time, or the end of
/// the tape that it is replayed over.
pub(crate) fn early(error: &Error) -> Option<End> {
    if error.is::<Stopped>() {
        return Some(End::Stopped);
    }
    error.is::<Spent>().then_some(End::Clock)
}

/// How a run ended that has no answer. `memory_refused`: it was not given all the memory that it asked for.
pub(crate) fn outcome(error: &Error, limits: &Limits, memory_refused: bool) -> Outcome {
    if let Some(spent) = error.downcast_ref::<Spent>() {
        return match spent {
            Spent::Cpu => Outcome::timed_out("timeout_cpu", Duration::from_millis(limits.cpu_ms)),
            Spent::HostCalls => Outcome::failed("limit_hostcalls", "the tool calls the host too often"),
        };
    }
    if error.is::<Stopped>() {
        return Outcome::failed("replay_stopped", "the replay left its tape");
    }
    let message = message(error);
    // Who does not look whether there was memory writes to where there is none.
    let starves = matches!(error.downcast_ref(), Some(Trap::UnreachableCodeReached | Trap::MemoryOutOfBounds));
    if starves && memory_refused {
        return Outcome::failed("out_of_memory", format!("the tool aborted for want of memory: {message}"));
    }
    Outcome::failed(kind(error, &message), message)
}

/// What a guest said before it gave up, where it is in a language whose failures end the instance.
pub(crate) fn panicked(error: &Error, memory_refused: bool, printed: &str) -> Option<Outcome> {
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

/// What the engine, or the guest, says of its end.
pub(crate) fn message(error: &Error) -> String {
    if let Some(I32Exit(code)) = error.downcast_ref() {
        let message = match code {
            0 => "the tool exited without a result",
            // The interface tells success from failure, and no more.
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

fn kind(error: &Error, message: &str) -> &'static str {
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
        // A call of the host has the guest's frames above it; what the guest returns has none.
        return if error.is::<WasmBacktrace>() { "limit_hostcall_bytes" } else { "output_too_large" };
    }
    if error.is::<NotInstantiated>() { "instantiate_failed" } else { "trap" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_told_as_it_was_printed() {
        let told = |printed: &str, memory_refused| {
            let ended = panicked(&Trap::UnreachableCodeReached.into(), memory_refused, printed);
            let Some(Outcome::Failed { exception_type, exception_message, exception_stack_trace }) = ended else {
                return String::new();
            };
            format!("{exception_type}|{exception_message}|{}", exception_stack_trace.join("|"))
        };
        let printed = "so far panicked at a: b\npanicked at src/lib.rs:3:5: left: 1\nright: 2\n";
        assert_eq!(told(printed, false), "panic|left: 1\nright: 2|src/lib.rs:3:5");
        for (printed, memory_refused) in [(printed, true), ("never panicked at x: y", false), ("panicked at x", false)]
        {
            assert_eq!(told(printed, memory_refused), "", "{printed}");
        }
        assert!(panicked(&Spent::Cpu.into(), false, printed).is_none());
    }

    fn check(error: impl Into<Error>, memory_refused: bool, expected: (&str, &str)) {
        let Outcome::Failed { exception_type, exception_message, .. } =
            outcome(&error.into(), &Limits::DEFAULT, memory_refused)
        else {
            panic!("it failed")
        };
        assert_eq!((exception_type.as_str(), exception_message.as_str()), expected);
    }

    #[test]
    fn every_end_has_its_name() {
        check(Spent::Cpu, false, ("timeout_cpu", "the tool computed longer than 10 s"));
        check(Spent::HostCalls, false, ("limit_hostcalls", "the tool calls the host too often"));
        check(I32Exit(0), false, ("no_result", "the tool exited without a result"));
        check(I32Exit(9), true, ("exit", "the tool exited with a failure code"));
        check(Trap::StackOverflow, true, ("stack_overflow", "the call stack is exhausted"));
        let outside = "wasm trap: out of bounds memory access";
        check(Trap::MemoryOutOfBounds, false, ("trap", outside));
        let aborted = "wasm trap: wasm `unreachable` instruction executed";
        check(Trap::UnreachableCodeReached, false, ("trap", aborted));
        let starved = |trap: &str| format!("the tool aborted for want of memory: {trap}");
        check(Trap::UnreachableCodeReached, true, ("out_of_memory", &starved(aborted)));
        check(Trap::MemoryOutOfBounds, true, ("out_of_memory", &starved(outside)));
        check(ResourceTableError::Full, false, ("limit_handles", "resource table has no free keys"));
        check(Error::msg("no"), false, ("trap", "no"));
        check(while_instantiated(Error::msg("no")), false, ("instantiate_failed", "no"));
        check(while_instantiated(Spent::Cpu.into()), false, ("timeout_cpu", "the tool computed longer than 10 s"));
    }
}
