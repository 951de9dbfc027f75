//! The starts and ends of runs as rows. Callers encode them as JSON, so that little work is left for the single writer.
//!
//! A statement for a whole group of rows gets them as one list. Bytes are hexadecimal in it.

use serde::Serialize;

use super::effect_rows::build_effect_rows;
use super::run_end::end_row;
use super::run_start::StartRow;
use super::search_columns::OutcomeWords;
use super::search_facets::{Facets, end_facets};
use crate::error::Result;
use crate::history::{Effect, FinishedRun, NewAnswers, NewTape, SealedAnswer, SealedBody};
use crate::kit::account::OrganizationId;
use crate::kit::clock::Timestamp;
use crate::kit::digest::Digest;
use crate::kit::ids::{RunId, ToolId};
use crate::store::retention::Retention;
use crate::store::sql::kit::row::{to_json, to_signed};

/// Rows for the record of runs that are inserted together or not at all.
pub(crate) enum RecordRows {
    Started(Vec<StartRow>),
    Finished(Vec<EndRow>),
    /// Calls that were refused: a start and an end each.
    Refused(Vec<(StartRow, EndRow)>),
}

/// The encoded rows of a run that has ended.
pub(crate) struct EndRow {
    pub id: RunId,
    pub organization: OrganizationId,
    pub finished: String,
    pub words: OutcomeWords,
    pub facets: Facets,
    pub effects: Vec<String>,
    pub has_failed: bool,
    pub tape: Option<String>,
    pub tape_bodies: Vec<String>,
    pub answers: Option<AnswerRows>,
}

/// The encoded rows of the recorded answers of a run.
pub(crate) struct AnswerRows {
    pub tool: ToolId,
    pub answers: Vec<String>,
}

#[derive(Serialize)]
struct Tape<'a> {
    invocation: &'a str,
    organization: &'a str,
    sealed: Option<String>,
    size: i64,
    made_at: i64,
    expires_at: i64,
}

#[derive(Serialize)]
struct Body<'a> {
    invocation: &'a str,
    organization: &'a str,
    digest: String,
    sealed: String,
    size: i64,
    object_digest: Option<String>,
}

#[derive(Serialize)]
struct AnswerRow<'a> {
    organization: &'a str,
    tool: &'a str,
    request: String,
    sealed: String,
    heard_at: i64,
    expires_at: i64,
}

impl RecordRows {
    /// Size of the rows, for the bound of a group.
    pub fn bytes(&self) -> usize {
        match self {
            Self::Started(starts) => starts.iter().map(StartRow::bytes).sum(),
            Self::Finished(ends) => ends.iter().map(EndRow::bytes).sum(),
            Self::Refused(runs) => runs.iter().map(|(start, end)| start.bytes() + end.bytes()).sum(),
        }
    }

    /// Removes the recorded answers, and returns whether there were any.
    pub fn take_answers(&mut self) -> bool {
        match self {
            Self::Started(_) | Self::Refused(_) => false,
            Self::Finished(ends) => ends.iter_mut().filter_map(|end| end.answers.take()).count() > 0,
        }
    }
}

impl EndRow {
    pub fn of(run: &FinishedRun, retention: Retention) -> Result<Self> {
        let effects = run.end.effects();
        Ok(Self {
            id: run.id.clone(),
            organization: run.organization.clone(),
            finished: end_row(run)?,
            words: OutcomeWords::of(&run.end.outcome),
            facets: end_facets(&effects),
            has_failed: effects.contains(&Effect::failed()),
            effects: build_effect_rows(&run.id, effects)?,
            tape: run.tape.as_ref().map(|tape| build_tape_row(run, tape, retention)).transpose()?,
            tape_bodies: build_body_rows(run)?,
            answers: run.answers.as_ref().map(|answers| answer_rows(run, answers, retention)).transpose()?,
        })
    }

    fn bytes(&self) -> usize {
        let answers = self.answers.iter().flat_map(|rows| &rows.answers);
        let beside = self
            .tape
            .iter()
            .chain(&self.tape_bodies)
            .chain(answers)
            .chain(&self.effects)
            .map(String::len)
            .sum::<usize>();
        self.finished.len() + self.words.bytes() + beside
    }
}

fn build_tape_row(run: &FinishedRun, tape: &NewTape, retention: Retention) -> Result<String> {
    let (sealed, size) = match tape {
        NewTape::Cut => (None, 0),
        NewTape::Whole(tape) => (Some(hex::encode(&tape.sealed)), to_signed(tape.size)),
    };
    let (made_at, expires_at) = compute_times(run.end.at, retention);
    let (invocation, organization) = (run.id.as_str(), run.organization.as_str());
    to_json(&Tape { invocation, organization, sealed, size, made_at, expires_at })
}

fn build_body_rows(run: &FinishedRun) -> Result<Vec<String>> {
    let Some(NewTape::Whole(tape)) = &run.tape else { return Ok(Vec::new()) };
    let row = |SealedBody { digest, sealed, size, object }: &SealedBody| {
        to_json(&Body {
            invocation: run.id.as_str(),
            organization: run.organization.as_str(),
            digest: hex::encode(digest),
            sealed: hex::encode(sealed),
            size: to_signed(*size),
            object_digest: object.as_ref().map(Digest::to_hex),
        })
    };
    tape.bodies.iter().map(row).collect()
}

fn answer_rows(run: &FinishedRun, answers: &NewAnswers, retention: Retention) -> Result<AnswerRows> {
    let row = |answer: &SealedAnswer| {
        let (heard_at, expires_at) = compute_times(answer.heard_at, retention);
        to_json(&AnswerRow {
            organization: run.organization.as_str(),
            tool: answers.tool.as_str(),
            request: hex::encode(answer.request),
            sealed: hex::encode(&answer.sealed),
            heard_at,
            expires_at,
        })
    };
    Ok(AnswerRows { tool: answers.tool.clone(), answers: answers.sealed.iter().map(row).collect::<Result<_>>()? })
}

/// Returns the milliseconds of a time, and of the time at which what is kept since then expires.
fn compute_times(at: Timestamp, retention: Retention) -> (i64, i64) {
    (at.as_milliseconds(), at.after(retention.time).as_milliseconds())
}
