//! Recorded answers: kept with the second half of a record, found for simulations, and swept when their time is over.

use std::time::Duration;

use zeroize::Zeroizing;

use super::dialect::Connection;
use super::recorder::Recorder;
use super::row::get;
use super::tapes::APART_BYTES_MIN;
use crate::account::OrganizationId;
use crate::answer::{HeardAnswer, NewAnswers, SealedAnswer};
use crate::error::{Error, Result};
use crate::ids::ToolId;
use crate::secrets::{AnswerTo, DataKey};
use crate::store::Store;

/// Answers that go in one write: a commit of some milliseconds.
const SWEPT_MAX: u32 = 64;

/// A run that ended later may have heard earlier.
const KEEP: &str = "INSERT INTO recorded_answers (organization, tool, request, sealed, heard_at, expires_at)
    VALUES ($1, $2, $3, $4, $5, $6)
    ON CONFLICT (organization, tool, request) DO UPDATE
    SET sealed = excluded.sealed, heard_at = excluded.heard_at, expires_at = excluded.expires_at
    WHERE excluded.heard_at >= recorded_answers.heard_at";

const COUNT: &str = "SELECT count(*) FROM recorded_answers WHERE organization = $1 AND tool = $2";

const FORGET_OLDEST: &str = "DELETE FROM recorded_answers WHERE organization = $1 AND tool = $2 AND request IN
    (SELECT request FROM recorded_answers WHERE organization = $1 AND tool = $2 ORDER BY heard_at, request LIMIT $3)";

const ONE: &str = concat!(
    "SELECT sealed FROM recorded_answers WHERE organization = $1 AND tool = $2 AND request = $3 AND expires_at > ",
    database_now!()
);

const SWEEP: &str = concat!(
    "DELETE FROM recorded_answers WHERE (organization, tool, request) IN
    (SELECT organization, tool, request FROM recorded_answers WHERE expires_at <= ",
    database_now!(),
    " ORDER BY expires_at LIMIT $1)"
);

impl Store {
    /// Seals what a tool's requests were answered under its organisation's key, for the second half of the run's record.
    pub async fn seal_answers(
        &self,
        organization: &OrganizationId,
        tool: &ToolId,
        heard: Vec<HeardAnswer>,
    ) -> Result<NewAnswers> {
        let bytes: usize = heard.iter().map(|answer| answer.bytes.len()).sum();
        let (key, organization, tool) = (self.data_key(organization).await?, organization.clone(), tool.clone());
        let seal = move || {
            let sealed =
                heard.into_iter().map(|answer| seal(&key, &organization, &tool, answer)).collect::<Result<_>>();
            sealed.map(|sealed| NewAnswers { tool, sealed })
        };
        if bytes < APART_BYTES_MIN {
            return seal();
        }
        tokio::task::spawn_blocking(seal).await.map_err(|_| Error::Closed)?
    }

    /// What a tool's request was answered last, by the request's SHA-256, unless that was never kept or its time is over.
    /// [`Error::Corrupt`] when it does not open.
    pub async fn recorded_answer(
        &self,
        organization: &OrganizationId,
        tool: &ToolId,
        request: &[u8; 32],
    ) -> Result<Option<Zeroizing<Vec<u8>>>> {
        let key = self.data_key(organization).await?;
        let request = key.request_digest(tool, request);
        let query = sqlx::query(ONE).bind(organization.as_str()).bind(tool.as_str()).bind(request.as_slice());
        let Some(row) = self.recorded(query).await? else { return Ok(None) };
        let to = AnswerTo { organization, tool, request: &request };
        key.open_answer(to, get(&row, "sealed")?).map(Some)
    }

    /// Deletes answers whose time is over, and says how many those were.
    pub async fn sweep_answers(&self) -> Result<u64> {
        let (mut answers, mut swept) = (0, 1);
        while swept > 0 {
            swept = self.write(|connection| Box::pin(sweep(connection))).await?;
            answers += swept;
        }
        Ok(answers)
    }
}

fn seal(key: &DataKey, organization: &OrganizationId, tool: &ToolId, heard: HeardAnswer) -> Result<SealedAnswer> {
    let request = key.request_digest(tool, &heard.request);
    let sealed = key.seal_answer(AnswerTo { organization, tool, request: &request }, &heard.bytes)?;
    Ok(SealedAnswer { request, sealed, heard_at: heard.at })
}

async fn sweep(connection: &mut Connection) -> Result<u64> {
    Ok(sqlx::query(SWEEP).bind(SWEPT_MAX).execute(connection).await?.rows_affected())
}

/// How long tapes and answers are kept, and how many answers.
#[derive(Clone, Copy)]
pub(in crate::store) struct Keeping {
    pub retention: Duration,
    pub of_a_tool_max: u32,
}

/// Keeps the answers of a run whose record ends in the same transaction. Beyond the bound of their tool the oldest go.
pub(super) fn keep(recorder: &Recorder<'_>, organization: &OrganizationId, answers: &NewAnswers) -> Result<()> {
    let (organization, tool, keeping) = (organization.as_str(), answers.tool.as_str(), recorder.keeping());
    for SealedAnswer { request, sealed, heard_at } in &answers.sealed {
        let expires_at = heard_at.after(keeping.retention).as_milliseconds();
        let heard_at = heard_at.as_milliseconds();
        recorder.execute(KEEP, &[&organization, &tool, request, sealed, &heard_at, &expires_at])?;
    }
    let count = recorder.number(COUNT, &[&organization, &tool])?.unwrap_or(0);
    let excess = count - i64::from(keeping.of_a_tool_max);
    if excess > 0 {
        recorder.execute(FORGET_OLDEST, &[&organization, &tool, &excess])?;
    }
    Ok(())
}
