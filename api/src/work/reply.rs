//! Runs work and responds in the mode that the client asked for.

use std::panic::AssertUnwindSafe;

use api_kit::error::Error;
use api_kit::openapi::{DocumentedInput, Inputs};
use api_kit::request_id::RequestId;
use api_kit::request_identity::RequestIdentity;
use api_kit::tasks::Tasks;
use axum::extract::{FromRef, FromRequestParts};
use axum::http::request::Parts;
use axum::response::{IntoResponse, Response};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use registry::{OperationId, Store, ToolId};
use tokio::sync::mpsc::{self, Receiver};

use super::FinalResponse;
use super::events::{self, Event, Events};
use super::response_mode::ResponseMode;

/// The response mode of a request, and the means to run its work.
pub(crate) struct Reply {
    pub(super) mode: ResponseMode,
    pub(super) request: RequestId,
    identity: RequestIdentity,
    pub(super) tasks: Tasks,
    pub(super) store: Store,
}

/// The context that work receives.
pub(crate) struct WorkContext {
    /// Receives the events of the work.
    pub(crate) events: Events,
    /// The operation whose id the runs and builds are recorded with.
    pub(crate) operation: Option<OperationId>,
}

impl<S: Send + Sync> FromRequestParts<S> for Reply
where
    Tasks: FromRef<S>,
    Store: FromRef<S>,
{
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Error> {
        let request = RequestId::from_request_parts(parts, state).await?;
        let identity = parts.extensions.get::<RequestIdentity>().cloned().unwrap_or_default();
        let mode = ResponseMode::of(&parts.headers);
        Ok(Self { mode, request, identity, tasks: Tasks::from_ref(state), store: Store::from_ref(state) })
    }
}

impl DocumentedInput for Reply {
    fn describe(inputs: &mut Inputs) {
        inputs.streams = true;
    }
}

impl Reply {
    /// Notes the tool of a request whose path does not have the tool's id.
    pub(crate) fn note_tool(&self, tool: &ToolId) {
        self.identity.set_tool(tool);
    }

    /// Runs `work` in a task and responds with its outcome.
    pub(crate) async fn respond<W, F>(self, work: W) -> Result<Response, Error>
    where
        W: FnOnce(WorkContext) -> F,
        F: Future<Output = Result<FinalResponse, Error>> + Send + 'static,
    {
        let (events, receiver) = self.open_events();
        let work = work(WorkContext { events: events.clone(), operation: None }).boxed();
        let request = self.request;
        let done = self.tasks.spawn(async move {
            let answer = run_to_end(work, &request).await;
            events.end(&answer).await;
            answer
        })?;
        match receiver {
            Some(receiver) => Ok(events::stream_response(receiver)),
            None => Ok(done.await.map_err(|error| refuse_early_end(&error))?.into_response()),
        }
    }

    /// A sender for the events of the work, and the receiver when the client asked for a stream.
    pub(super) fn open_events(&self) -> (Events, Option<Receiver<Event>>) {
        if self.mode != ResponseMode::Stream {
            return (Events::none().of(self.identity.clone()), None);
        }
        let (sender, receiver) = mpsc::channel(events::BUFFERED_MAX);
        (Events::to(sender).of(self.identity.clone()), Some(receiver))
    }
}

/// Returns the response of work that may panic. The future is boxed: an async function that takes a future by value
/// stores it twice.
pub(super) async fn run_to_end(
    work: BoxFuture<'static, Result<FinalResponse, Error>>,
    request: &RequestId,
) -> FinalResponse {
    let outcome = AssertUnwindSafe(work).catch_unwind().await;
    FinalResponse::of(outcome.unwrap_or_else(|_| Err(refuse_early_end(&"it panicked"))), request)
}

pub(super) fn refuse_early_end(reason: &dyn std::fmt::Display) -> Error {
    Error::Internal { detail: format!("the work ended early: {reason}") }
}
