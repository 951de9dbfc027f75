//! The result of a call of a tool, as the model and the trace have it.

use registry::InvocationId;

use crate::call::RunResult;
use crate::interaction::QuestionKind;
use crate::invoke::catalogue::ListedTool;
use crate::invoke::refusal::Refusal;
use crate::native::{library_failure, library_refusal};
use crate::outcome::Outcome;
use crate::refused_arguments::refusal_message;

/// The result of a call.
pub(super) struct ToolObservation {
    pub text: String,
    pub is_error: bool,
    pub invocation: Option<InvocationId>,
    /// Questions that nobody can answer, without which the call failed.
    pub lacks: Vec<QuestionKind>,
}

impl ToolObservation {
    pub const fn success(text: String) -> Self {
        Self { text, is_error: false, invocation: None, lacks: Vec::new() }
    }

    pub const fn failure(text: String) -> Self {
        Self { text, is_error: true, invocation: None, lacks: Vec::new() }
    }

    /// The result of a run of a tool.
    pub fn of_run(result: RunResult, listed: &ListedTool) -> Self {
        let lacks = result.asked.lacked(&result.outcome).to_vec();
        let (text, is_error) = match result.outcome {
            Outcome::Succeeded { output } => (output, false),
            Outcome::Failed { exception_type, exception_message, .. } if listed.has_envelope() => {
                (library_failure(&exception_type, &exception_message, None).to_string(), true)
            }
            Outcome::Failed { exception_type, exception_message, .. } => {
                (format!("{exception_type}: {exception_message}"), true)
            }
        };
        Self { text, is_error, invocation: Some(result.invocation_id), lacks }
    }

    /// The result of a refused call.
    pub fn of_refusal(refusal: Refusal, listed: &ListedTool) -> Self {
        let Refusal { error, records, .. } = refusal;
        let envelope = listed.has_envelope().then(|| library_refusal(&error)).flatten();
        let text = match envelope {
            Some(envelope) => envelope.to_string(),
            None => format!("{}: {}", error.code(), refusal_message(&error)),
        };
        Self { invocation: records.into_iter().next(), ..Self::failure(text) }
    }
}
