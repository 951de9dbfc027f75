//! The columns of the full-text index of the record of runs.

use super::search_text::{searchable, searchable_json};
use crate::account::OrganizationId;
use crate::invocation::InvocationOutcome;

pub(super) const INDEX: &str = "INSERT INTO inv_text
        (rowid, scope, output, exception_message, exception_type, exception_stack_trace, inputs)
    VALUES ($1, $2, $3, $4, $5, $6, $7)";

/// The columns of a record in the index: output, message, type, stack trace, inputs.
pub(super) type Texts = [Option<String>; 5];

/// Returns the texts of a record.
pub(super) fn texts(outcome: &InvocationOutcome, input: &str) -> Texts {
    let inputs = Some(searchable_json(input));
    match outcome {
        InvocationOutcome::Succeeded { output } => [Some(searchable(output)), None, None, None, inputs],
        InvocationOutcome::Failed { exception_type, exception_message, exception_stack_trace } => [
            None,
            Some(searchable(exception_message)),
            Some(searchable(exception_type)),
            Some(searchable(&exception_stack_trace.join("\n"))),
            inputs,
        ],
    }
}

/// Returns the word of the `scope` column, by which the index finds the rows of an organisation.
pub(super) fn scope(organization: &OrganizationId) -> String {
    format!("o{}", hex::encode(organization.as_str()))
}
