//! Adding the ends of runs to the full-text index, in the transaction that inserts them.

use super::record_event::EndRow;
use super::recorder::Recorder;
use super::search_columns::{INDEX, scope, texts};
use crate::error::Result;

const INPUT: &str = "SELECT input FROM inv_started WHERE invocation = $1";

/// Adds the end of a run to the index.
pub(super) fn index(recorder: &Recorder, sequence: i64, end: &EndRow) -> Result<()> {
    let input = recorder.text(INPUT, &[&end.id.as_str()])?.unwrap_or_default();
    let [output, message, kind, trace, inputs] = texts(&end.outcome, &input);
    recorder
        .execute(INDEX, &[&sequence, &scope(&end.organization), &output, &message, &kind, &trace, &inputs])
        .map(drop)
}
