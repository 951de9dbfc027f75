//! The outcome of a run: the tool's output, the tool's failure, or a failure that the host names.
//!
//! A fault of the host is an [`Error`](crate::Error), and not an outcome of the sandbox.

use std::time::Duration;

pub use registry::Outcome;

use crate::sandbox::bindings::tool::lathe::tool::types::ToolError;
use crate::text::{CUT, begin, begin_lines, count_lines_within, cut};

/// Stands for an output without any text, which some clients refuse.
pub const EMPTY_OUTPUT: &str = "(empty)";
/// The longest stack trace that is kept. Python prints recursion as one repeated line.
pub(crate) const STACK_TRACE_BYTES_MAX: usize = 64 << 10;
/// The longest message and type name that are kept.
pub(crate) const MESSAGE_BYTES_MAX: usize = 16 << 10;
/// Bytes that a runner sends of a text beyond its bound, so that the server finds a secret that crosses the bound. They
/// hold some characters of a secret in any encoding; a character takes at most 12 bytes.
pub(crate) const LOOKAHEAD_BYTES: usize = 256;

/// A failure that the host names, such as `timeout_wall`.
#[must_use]
pub fn failed(kind: &str, message: impl Into<String>) -> Outcome {
    Outcome::Failed {
        exception_type: kind.into(),
        exception_message: message.into(),
        exception_stack_trace: Vec::new(),
    }
}

/// An exceeded wall time limit.
pub(crate) fn build_wall_timeout(limit: Duration) -> Outcome {
    failed("timeout_wall", format!("the tool ran longer than {} s", limit.as_secs_f64()))
}

/// An exceeded CPU time limit.
pub(crate) fn build_cpu_timeout(limit: Duration) -> Outcome {
    failed("timeout_cpu", format!("the tool computed longer than {} s", limit.as_secs_f64()))
}

/// A failure that the tool reported, up to [`LOOKAHEAD_BYTES`] beyond the bounds.
pub(crate) fn build_raised(error: ToolError) -> Outcome {
    let message_bytes = MESSAGE_BYTES_MAX + LOOKAHEAD_BYTES;
    Outcome::Failed {
        exception_type: begin(error.kind, message_bytes),
        exception_message: begin(error.message, message_bytes),
        exception_stack_trace: begin_lines(error.stack_trace, STACK_TRACE_BYTES_MAX + LOOKAHEAD_BYTES),
    }
}

/// The bytes of all texts of an outcome.
pub(crate) fn count_bytes(outcome: &Outcome) -> usize {
    match outcome {
        Outcome::Succeeded { output } => output.len(),
        Outcome::Failed { exception_type, exception_message, exception_stack_trace } => {
            let lines: usize = exception_stack_trace.iter().map(String::len).sum();
            exception_type.len() + exception_message.len() + lines
        }
    }
}

/// The outcome with its texts cut at their bounds, secrets included.
pub(crate) fn bound(outcome: Outcome) -> Outcome {
    let Outcome::Failed { exception_type, exception_message, mut exception_stack_trace } = outcome else {
        return outcome;
    };
    let (kept, is_cut) = count_lines_within(&exception_stack_trace, STACK_TRACE_BYTES_MAX);
    exception_stack_trace.truncate(kept);
    exception_stack_trace.extend(is_cut.then(|| CUT.to_owned()));
    Outcome::Failed {
        exception_type: cut(exception_type, MESSAGE_BYTES_MAX),
        exception_message: cut(exception_message, MESSAGE_BYTES_MAX),
        exception_stack_trace,
    }
}
