//! The columns of the full-text index of the record of runs.

use serde::Serialize;

use super::row::to_json;
use super::words::{words, words_of_input};
use crate::account::OrganizationId;
use crate::error::Result;
use crate::record::Outcome;

/// Adds a list of [`IndexRow`]s to the index.
pub(super) const INDEX: &str = "INSERT INTO inv_text
        (rowid, scope, output, exception_message, exception_type, exception_stack_trace, inputs)
    SELECT f.sequence, i.scope, i.output, i.exception_message, i.exception_type, i.exception_stack_trace, i.inputs
    FROM {records $1 invocation TEXT, scope TEXT, output TEXT, exception_message TEXT, exception_type TEXT, \
        exception_stack_trace TEXT, inputs TEXT} i CROSS JOIN inv_finished f
    WHERE f.invocation = i.invocation";

/// The words of an outcome.
#[derive(Default, Serialize)]
pub(crate) struct OutcomeWords {
    output: Option<String>,
    exception_message: Option<String>,
    exception_type: Option<String>,
    exception_stack_trace: Option<String>,
}

/// The row of a record in the index.
pub(super) struct IndexRow<'a> {
    pub invocation: &'a str,
    pub organization: &'a OrganizationId,
    pub outcome: &'a OutcomeWords,
    /// The recorded input.
    pub input: &'a str,
}

/// The row of a record whose position is known.
pub(super) struct PositionedIndexRow<'a> {
    pub organization: &'a OrganizationId,
    pub outcome: &'a OutcomeWords,
    /// The recorded input.
    pub input: &'a str,
    pub rowid: i64,
}

#[derive(Serialize)]
struct PositionedColumns<'a> {
    scope: String,
    #[serde(flatten)]
    outcome: &'a OutcomeWords,
    inputs: String,
    rowid: i64,
}

#[derive(Serialize)]
struct Columns<'a> {
    invocation: &'a str,
    scope: String,
    #[serde(flatten)]
    outcome: &'a OutcomeWords,
    inputs: String,
}

impl IndexRow<'_> {
    pub fn encoded(&self) -> Result<String> {
        let Self { invocation, organization, outcome, input } = *self;
        to_json(&Columns { invocation, scope: scope(organization), outcome, inputs: words_of_input(input) })
    }
}

impl PositionedIndexRow<'_> {
    pub fn encoded(&self) -> Result<String> {
        let Self { organization, outcome, input, rowid } = *self;
        to_json(&PositionedColumns { scope: scope(organization), outcome, inputs: words_of_input(input), rowid })
    }
}

impl OutcomeWords {
    pub fn of(outcome: &Outcome) -> Self {
        match outcome {
            Outcome::Succeeded { output } => Self { output: Some(words(output)), ..Self::default() },
            Outcome::Failed { exception_type, exception_message, exception_stack_trace } => Self {
                output: None,
                exception_message: Some(words(exception_message)),
                exception_type: Some(words(exception_type)),
                exception_stack_trace: Some(words(&exception_stack_trace.join("\n"))),
            },
        }
    }

    pub fn bytes(&self) -> usize {
        let Self { output, exception_message, exception_type, exception_stack_trace } = self;
        let texts = [output, exception_message, exception_type, exception_stack_trace];
        texts.into_iter().flatten().map(String::len).sum()
    }
}

/// Returns the word of the `scope` column, by which the index finds the rows of an organisation.
pub(super) fn scope(organization: &OrganizationId) -> String {
    format!("o{}", hex::encode(organization.as_str()))
}
