//! What came of a run, whichever way it ended.

use std::time::Duration;

use registry::Ledger;
use serde::{Deserialize, Serialize};

use crate::Taped;
use crate::bindings::tool::lathe::tool::types::ToolError;

/// The longest stack trace that is kept; Python repeats recursion as one line.
const STACK_TRACE_BYTES_MAX: usize = 64 << 10;
/// The longest message and type name that are kept.
const MESSAGE_BYTES_MAX: usize = 16 << 10;
pub(crate) const CUT: &str = "[truncated]";

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Outcome {
    Succeeded { output: String },
    Failed { exception_type: String, exception_message: String, exception_stack_trace: Vec<String> },
}

/// The end of one run. `logs` is what the tool printed, `ledger` what the host counted.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Executed {
    pub outcome: Outcome,
    pub duration: Duration,
    /// Whether the tool was called, and so handed its documents. Of a run that was lost nobody knows, and it counts.
    pub is_called: bool,
    pub logs: String,
    pub ledger: Ledger,
    pub taped: Taped,
}

impl Executed {
    /// A run whose code is no tool.
    pub(crate) fn rejected(reason: &str) -> Self {
        Self { is_called: false, ..Self::failed("instantiate_failed", reason) }
    }

    /// A run that the host ended, or never began.
    pub(crate) fn failed(kind: &str, message: &str) -> Self {
        Self::ended(Outcome::failed(kind, message))
    }

    /// A run of which nothing else is known.
    pub(crate) fn ended(outcome: Outcome) -> Self {
        let (duration, logs, ledger) = (Duration::ZERO, String::new(), Ledger::default());
        Self { outcome, duration, is_called: true, logs, ledger, taped: Taped::default() }
    }
}

impl Outcome {
    /// A failure that the host names, such as `timeout_wall`.
    #[must_use]
    pub fn failed(kind: &str, message: impl Into<String>) -> Self {
        Self::Failed {
            exception_type: kind.into(),
            exception_message: message.into(),
            exception_stack_trace: Vec::new(),
        }
    }

    pub(crate) fn raised(error: ToolError) -> Self {
        Self::Failed {
            exception_type: cut(error.kind, MESSAGE_BYTES_MAX),
            exception_message: cut(error.message, MESSAGE_BYTES_MAX),
            exception_stack_trace: cut_lines(error.stack_trace),
        }
    }

    /// A limit of time, which the host names.
    pub(crate) fn timed_out(kind: &str, limit: Duration) -> Self {
        let what = if kind == "timeout_cpu" { "computed" } else { "ran" };
        Self::failed(kind, format!("the tool {what} longer than {} s", limit.as_secs_f64()))
    }
}

pub(crate) fn cut(mut text: String, bytes_max: usize) -> String {
    if text.len() > bytes_max {
        text.truncate(text.floor_char_boundary(bytes_max));
        text.push_str(CUT);
    }
    text
}

fn cut_lines(lines: Vec<String>) -> Vec<String> {
    let mut left = STACK_TRACE_BYTES_MAX;
    let mut kept = Vec::with_capacity(lines.len());
    for line in lines {
        if line.len() > left {
            kept.push(CUT.into());
            break;
        }
        left -= line.len();
        kept.push(line);
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_trace_is_cut_and_says_so() {
        let lines = cut_lines(vec!["x".repeat(1000); 100]);
        assert_eq!(lines.len(), 66);
        assert_eq!(lines.last().map(String::as_str), Some(CUT));
    }

    #[test]
    fn a_message_is_cut_between_characters() {
        let text = cut("é".repeat(10), 3);
        assert_eq!(text, format!("é{CUT}"));
    }
}
