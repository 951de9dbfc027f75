//! Recorded answers: stored with the end of a run, read by simulations, deleted when they expire.

use zeroize::Zeroizing;

use super::handle::History;
use super::tapes::BLOCKING_BYTES_MIN;
use crate::error::{Error, Result};
use crate::history::{NewAnswers, RecordedAnswer, SealedAnswer};
use crate::kit::account::OrganizationId;
use crate::kit::ids::ToolId;
use crate::secrets::{AnswerTo, DataKey};
use crate::store::database::{Connection, Query};
use crate::store::sql::kit::row::get;
use crate::tools::ToolRef;

/// Answers deleted in one write: a commit of some milliseconds.
const DELETED_MAX: u32 = 64;

const ONE: &str =
    "SELECT sealed FROM recorded_answers WHERE organization = $1 AND tool = $2 AND request = $3 AND expires_at > {now}";

const DELETE_EXPIRED: &str = "DELETE FROM recorded_answers WHERE (organization, tool, request) IN
    (SELECT organization, tool, request FROM recorded_answers WHERE expires_at <= {now} ORDER BY expires_at LIMIT $1)";

impl History {
    /// Seals the answers to a tool's requests with its organisation's key, for the record of the run's end.
    pub async fn seal_answers(
        &self,
        organization: &OrganizationId,
        tool: &ToolId,
        answers: Vec<RecordedAnswer>,
    ) -> Result<NewAnswers> {
        let bytes: usize = answers.iter().map(|answer| answer.bytes.len()).sum();
        let (key, organization, tool) =
            (self.store.access().get_data_key(organization).await?, organization.clone(), tool.clone());
        let seal = move || {
            let sealed = answers
                .into_iter()
                .map(|answer| seal(&key, ToolRef { organization: &organization, tool: &tool }, answer))
                .collect::<Result<_>>();
            sealed.map(|sealed| NewAnswers { tool, sealed })
        };
        if bytes < BLOCKING_BYTES_MIN {
            return seal();
        }
        tokio::task::spawn_blocking(seal).await.map_err(|_| Error::Closed)?
    }

    /// Returns the last stored answer to a tool's request, by the request's SHA-256. Expired answers are absent.
    /// [`Error::Corrupt`] when the answer cannot be opened.
    pub async fn recorded_answer(
        &self,
        organization: &OrganizationId,
        tool: &ToolId,
        request: &[u8; 32],
    ) -> Result<Option<Zeroizing<Vec<u8>>>> {
        let key = self.store.access().get_data_key(organization).await?;
        let request = key.request_digest(tool, request);
        let query = Query::new(ONE).bind(organization.as_str()).bind(tool.as_str()).bind(request.as_slice());
        let Some(row) = query.fetch_optional(self.store.readers()).await? else { return Ok(None) };
        let to = AnswerTo { organization, tool, request: &request };
        key.open_answer(to, get(&row, "sealed")?).map(Some)
    }

    /// Deletes expired answers and returns their number.
    pub async fn delete_expired_answers(&self) -> Result<u64> {
        let (mut answers, mut deleted) = (0, 1);
        while deleted > 0 {
            deleted = self.store.write(|connection| Box::pin(delete_expired(connection))).await?;
            answers += deleted;
        }
        Ok(answers)
    }
}

fn seal(key: &DataKey, of: ToolRef<'_>, answer: RecordedAnswer) -> Result<SealedAnswer> {
    let ToolRef { organization, tool } = of;
    let request = key.request_digest(tool, &answer.request);
    let sealed = key.seal_answer(AnswerTo { organization, tool, request: &request }, &answer.bytes)?;
    Ok(SealedAnswer { request, sealed, heard_at: answer.at })
}

async fn delete_expired(connection: &mut Connection) -> Result<u64> {
    Ok(Query::new(DELETE_EXPIRED).bind(DELETED_MAX).execute(connection).await?)
}
