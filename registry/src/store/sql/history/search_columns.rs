//! The columns of the full-text index of the record of runs.

use serde::Serialize;

use super::search_facets::Facets;
use crate::error::Result;
use crate::history::Outcome;
use crate::kit::account::OrganizationId;
use crate::kit::digest::Digest;
use crate::store::sql::kit::row::to_json;
use crate::text::words::{FIELD_BYTES_MAX, extract_words, extract_words_of_input, extract_words_within};

/// Adds a list of [`IndexRow`]s to the index.
pub(super) const INDEX: &str = "INSERT INTO inv_text
        (rowid, scope, output, exception_message, exception_type, exception_stack_trace, inputs, facets)
    SELECT f.sequence, i.scope, {words i.scope i.output}, {words i.scope i.exception_message},
        {words i.scope i.exception_type}, {words i.scope i.exception_stack_trace}, {words i.scope i.inputs},
        {words i.scope i.facets}
    FROM {records $1 invocation TEXT, scope TEXT, output TEXT, exception_message TEXT, exception_type TEXT, \
        exception_stack_trace TEXT, inputs TEXT, facets TEXT} i CROSS JOIN inv_finished f
    WHERE f.invocation = i.invocation";

/// Hexadecimal digits of a scope.
const SCOPE_DIGITS: usize = 10;

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
    pub facets: &'a Facets,
}

/// The row of a record whose position is known.
pub(super) struct PositionedIndexRow<'a> {
    pub organization: &'a OrganizationId,
    pub outcome: &'a OutcomeWords,
    /// The recorded input.
    pub input: &'a str,
    pub facets: &'a Facets,
    pub rowid: i64,
}

#[derive(Serialize)]
struct PositionedColumns<'a> {
    scope: String,
    #[serde(flatten)]
    outcome: &'a OutcomeWords,
    inputs: String,
    facets: String,
    rowid: i64,
}

#[derive(Serialize)]
struct Columns<'a> {
    invocation: &'a str,
    scope: String,
    #[serde(flatten)]
    outcome: &'a OutcomeWords,
    inputs: String,
    facets: String,
}

impl IndexRow<'_> {
    pub fn encode(&self) -> Result<String> {
        let Self { invocation, organization, outcome, input, facets } = *self;
        let (scope, inputs, facets) = (build_scope(organization), extract_words_of_input(input), join_facets(facets));
        to_json(&Columns { invocation, scope, outcome, inputs, facets })
    }
}

impl PositionedIndexRow<'_> {
    pub fn encode(&self) -> Result<String> {
        let Self { organization, outcome, input, facets, rowid } = *self;
        let (scope, inputs, facets) = (build_scope(organization), extract_words_of_input(input), join_facets(facets));
        to_json(&PositionedColumns { scope, outcome, inputs, facets, rowid })
    }
}

impl OutcomeWords {
    pub fn of(outcome: &Outcome) -> Self {
        match outcome {
            Outcome::Succeeded { output } => Self { output: Some(extract_words(output)), ..Self::default() },
            Outcome::Failed { exception_type, exception_message, exception_stack_trace } => {
                // Together they have no more words than an output may have.
                let mut left = FIELD_BYTES_MAX;
                let mut take = |text: &str| {
                    let words = extract_words_within(text, left);
                    left = left.saturating_sub(words.len());
                    Some(words)
                };
                let [exception_type, exception_message] = [exception_type, exception_message].map(|text| take(text));
                let exception_stack_trace = take(&exception_stack_trace.join("\n"));
                Self { output: None, exception_message, exception_type, exception_stack_trace }
            }
        }
    }

    pub fn bytes(&self) -> usize {
        let Self { output, exception_message, exception_type, exception_stack_trace } = self;
        let texts = [output, exception_message, exception_type, exception_stack_trace];
        texts.into_iter().flatten().map(String::len).sum()
    }
}

fn join_facets(facets: &Facets) -> String {
    facets.iter().map(String::as_str).collect::<Vec<_>>().join(" ")
}

/// Returns the text before each word of an organisation in the index: a word of one organisation is not found with the rows of
/// others. It is a short digest, because it stands before all words. Should two organisations ever have the same, searches
/// still find only the runs of one.
pub(super) fn build_scope(organization: &OrganizationId) -> String {
    let mut digest = Digest::of(organization.as_str().as_bytes()).to_hex();
    digest.truncate(SCOPE_DIGITS);
    digest
}
