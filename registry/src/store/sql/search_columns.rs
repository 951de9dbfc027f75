//! The columns of the full-text index of the record of runs.

use super::row::to_json;
use super::search_text::{searchable, searchable_json};
use crate::account::OrganizationId;
use crate::error::Result;
use crate::record::Outcome;

/// Adds a list of [`IndexRow`]s to the index.
pub(super) const INDEX: &str = "INSERT INTO inv_text
        (rowid, scope, output, exception_message, exception_type, exception_stack_trace, inputs)
    SELECT f.sequence, i.value ->> 1, i.value -> 2 ->> 0, i.value -> 2 ->> 1, i.value -> 2 ->> 2, i.value -> 2 ->> 3,
        i.value ->> 3
    FROM jsonb_each($1) i CROSS JOIN inv_finished f WHERE f.invocation = i.value ->> 0";

/// The texts of an outcome in the index: output, message, type, stack trace.
pub(crate) type Texts = [Option<String>; 4];

/// The row of a record in the index.
pub(super) struct IndexRow<'a> {
    pub invocation: &'a str,
    pub organization: &'a OrganizationId,
    pub outcome: &'a Texts,
    /// The recorded input.
    pub input: &'a str,
}

impl IndexRow<'_> {
    pub fn encoded(&self) -> Result<String> {
        to_json(&(self.invocation, scope(self.organization), self.outcome, searchable_json(self.input)))
    }
}

/// Returns the texts of an outcome.
pub(super) fn texts(outcome: &Outcome) -> Texts {
    match outcome {
        Outcome::Succeeded { output } => [Some(searchable(output)), None, None, None],
        Outcome::Failed { exception_type, exception_message, exception_stack_trace } => [
            None,
            Some(searchable(exception_message)),
            Some(searchable(exception_type)),
            Some(searchable(&exception_stack_trace.join("\n"))),
        ],
    }
}

/// Returns the word of the `scope` column, by which the index finds the rows of an organisation.
pub(super) fn scope(organization: &OrganizationId) -> String {
    format!("o{}", hex::encode(organization.as_str()))
}
