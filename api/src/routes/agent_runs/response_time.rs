//! Responses at the start of the work on a run, or at its end.

use axum::Json;
use axum::http::StatusCode;
use registry::{AgentRun, AgentRunState};
use runner::{AgentRunLoop, Progress};
use tokio::sync::oneshot;

use super::wire::AgentRunStatus;
use crate::error::Error;
use crate::extract::{FromQuery, QueryParameters};
use crate::tasks::Tasks;

/// When the response comes.
pub(crate) struct ResponseTime {
    is_at_once: bool,
}

/// A run with its status, as it was when the work on it began.
type Begun = Result<Option<AgentRunStatus>, Error>;

pub(super) type Answer = Result<(StatusCode, Json<AgentRunStatus>), Error>;

impl ResponseTime {
    /// Begins the work on a run and does it, in a task of its own: a client that goes away leaves no run that nobody works on. Responds
    /// at its end, or at once.
    pub(super) async fn respond<F>(self, begin: F, tasks: &Tasks) -> Answer
    where
        F: Future<Output = Result<Option<AgentRunLoop>, Error>> + Send + 'static,
    {
        let (sender, has_begun) = oneshot::channel();
        let working = tasks.spawn(work(begin, sender))?;
        let ended_early =
            |error: &dyn std::fmt::Display| Error::Internal { detail: format!("a run of an agent: {error}") };
        let begun = has_begun.await.map_err(|error| ended_early(&error))??.ok_or(Error::NotFound)?;
        if self.is_at_once {
            return Ok((StatusCode::ACCEPTED, Json(begun)));
        }
        match working.await.map_err(|error| ended_early(&error))? {
            Some(ended) => Ok(answer(ended?)),
            None => Err(Error::NotFound),
        }
    }
}

async fn work<F>(begin: F, begun: oneshot::Sender<Begun>) -> Option<Result<(AgentRun, Progress), runner::Error>>
where
    F: Future<Output = Result<Option<AgentRunLoop>, Error>>,
{
    let (work, status) = match begin.await {
        Ok(Some(work)) => {
            let (run, progress) = work.run();
            let status = AgentRunStatus::of(run.clone(), progress.clone());
            (Some(work), Ok(Some(status)))
        }
        Ok(None) => (None, Ok(None)),
        Err(error) => (None, Err(error)),
    };
    // Sending fails when the client is gone. The work is done all the same.
    let _ = begun.send(status);
    Some(work?.to_its_end().await)
}

/// A run that goes on has 202.
pub(super) fn answer((run, progress): (AgentRun, Progress)) -> (StatusCode, Json<AgentRunStatus>) {
    let goes_on = run.state == AgentRunState::Running;
    let status = if goes_on { StatusCode::ACCEPTED } else { StatusCode::OK };
    (status, Json(AgentRunStatus::of(run, progress)))
}

impl FromQuery for ResponseTime {
    fn from_query(query: &mut QueryParameters) -> Self {
        let text = "Whether the response comes at once; false by default, for a response at the end.";
        Self { is_at_once: query.boolean("async", text).unwrap_or_default() }
    }
}
