//! Responses at the start of the work on a run, or at its end.

use agents::{AgentRunLoop, AgentRunState, Begun, RunCheckpoint};
use api_kit::error::Error;
use api_kit::extract::{FromQuery, QueryParameters, refuse_reused_key};
use api_kit::openapi::OperationDoc;
use api_kit::tasks::Tasks;
use axum::Json;
use axum::http::StatusCode;
use tokio::sync::oneshot;

use crate::wire::{AgentRun, agent_run_example};

/// When the response comes.
pub(crate) struct ResponseTime {
    is_at_once: bool,
}

pub(crate) type Answer = Result<(StatusCode, Json<AgentRun>), Error>;

/// The run of a request, before the work on it.
enum Beginning {
    New(Box<AgentRun>),
    Repeated(Box<(agents::AgentRun, RunCheckpoint)>),
}

/// The responses of an operation that goes on with a paused run.
pub(crate) fn describe_resuming(operation: OperationDoc) -> OperationDoc {
    let goes_on = "With `async=true`, or when the server stops meanwhile: the run goes on.";
    operation
        .returns::<AgentRun>(200, "The run has ended, or waits for a person again.", agent_run_example())
        .returns::<AgentRun>(202, goes_on, agent_run_example())
        .errors(400, &["human_response"])
        .errors(429, &["too_many_runs"])
        .errors(503, &["model_missing", "overloaded"])
        .links_to("get-agent-run", "agent_run_id", "/agent_run_id")
}

impl ResponseTime {
    /// Goes on with a run that has its answer.
    pub(crate) async fn respond_resumed<F>(self, resumed: F, tasks: &Tasks) -> Answer
    where
        F: Future<Output = Result<Option<AgentRunLoop>, agents::Error>> + Send + 'static,
    {
        let begin = async move { Ok(resumed.await?.map(|work| Begun::Work(Box::new(work)))) };
        self.respond(begin, tasks).await
    }

    /// Begins the work on a run and does it, in a task of its own: a client that goes away leaves no run that nobody works on. Responds
    /// at its end, or at once.
    pub(crate) async fn respond<F>(self, begin: F, tasks: &Tasks) -> Answer
    where
        F: Future<Output = Result<Option<Begun>, Error>> + Send + 'static,
    {
        let (sender, beginning) = oneshot::channel();
        let working = tasks.spawn(begin_and_run(begin, sender))?;
        let ended_early =
            |error: &dyn std::fmt::Display| Error::Internal { detail: format!("a run of an agent: {error}") };
        let begun = match beginning.await.map_err(|error| ended_early(&error))?? {
            Beginning::New(status) => *status,
            Beginning::Repeated(repeated) => {
                let (run, checkpoint) = *repeated;
                return Ok(answer(run, checkpoint));
            }
        };
        if self.is_at_once {
            return Ok((StatusCode::ACCEPTED, Json(begun)));
        }
        let ended = working.await.map_err(|error| ended_early(&error))?;
        let (run, checkpoint) = ended.ok_or_else(|| ended_early(&"it never began"))??;
        Ok(answer(run, checkpoint))
    }
}

/// Returns `None` for a run on which this request does no work.
async fn begin_and_run<F>(
    begin: F,
    beginning: oneshot::Sender<Result<Beginning, Error>>,
) -> Option<Result<(agents::AgentRun, RunCheckpoint), agents::Error>>
where
    F: Future<Output = Result<Option<Begun>, Error>>,
{
    let (work, begun) = match begin.await {
        Ok(Some(Begun::Work(work))) => {
            let (run, checkpoint) = work.run();
            let status = AgentRun::of(run.clone(), checkpoint.clone());
            (Some(work), Ok(Beginning::New(Box::new(status))))
        }
        Ok(Some(Begun::Repeated(repeated))) => (None, Ok(Beginning::Repeated(repeated))),
        Ok(Some(Begun::OtherRequest)) => (None, Err(refuse_reused_key())),
        Ok(None) => (None, Err(Error::NotFound)),
        Err(error) => (None, Err(error)),
    };
    // Sending fails when the client is gone. The work is done all the same.
    let _ = beginning.send(begun);
    Some(work?.to_its_end().await)
}

/// A run that goes on has 202.
fn answer(run: agents::AgentRun, checkpoint: RunCheckpoint) -> (StatusCode, Json<AgentRun>) {
    let goes_on = run.state == AgentRunState::Running;
    let status = if goes_on { StatusCode::ACCEPTED } else { StatusCode::OK };
    (status, Json(AgentRun::of(run, checkpoint)))
}

impl FromQuery for ResponseTime {
    fn from_query(query: &mut QueryParameters) -> Self {
        let text = "Whether the response comes at once; false by default, for a response at the end.";
        Self { is_at_once: query.read_boolean("async", text).unwrap_or_default() }
    }
}
