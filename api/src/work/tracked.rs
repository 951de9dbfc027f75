//! Operations: work that is carried out once per idempotency key, and whose state clients can query.
//!
//! One task begins the operation, does the work and ends the operation. A client that disconnects early therefore cannot
//! leave a key that is taken by work that never began.

use std::time::Duration;

use api_kit::error::Error;
use api_kit::extract::refuse_reused_key;
use api_kit::request_id::RequestId;
use axum::Json;
use axum::http::StatusCode;
use axum::http::header::{HeaderName, HeaderValue, LOCATION};
use axum::response::{IntoResponse, Response};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use registry::{
    Admitted, BegunOperation, NewOperation, Once, OperationEnd, OperationId, OperationKind, OrganizationId, Principal,
    Store, ToolId, TrackedOperation,
};
use tokio::sync::oneshot;
use tokio::time::sleep;

use super::reply::{Reply, WorkContext, refuse_early_end, run_to_end};
use super::response_mode::ResponseMode;
use super::{Events, FinalResponse, OperationReader, events};

/// Marks the repetition of an earlier response.
const REPLAYED: HeaderName = HeaderName::from_static("idempotency-replayed");
const PREFERENCE_APPLIED: HeaderName = HeaderName::from_static("preference-applied");

/// Time between two attempts to record the end of an operation.
const RETRY_INTERVAL: Duration = Duration::from_secs(5);

/// A request for an operation, apart from the work itself.
#[derive(Clone)]
pub(crate) struct OperationRequest {
    pub(crate) principal: Principal,
    pub(crate) kind: OperationKind,
    pub(crate) tool: ToolId,
    pub(crate) once: Option<Once>,
    /// The body of a publication's request ([`NewOperation::request`]).
    pub(crate) request: Option<String>,
}

/// An operation that has begun.
pub(crate) struct RunningOperation {
    pub(crate) store: Store,
    /// The request that a fault is logged under.
    pub(crate) request: RequestId,
    pub(crate) organization: OrganizationId,
    pub(crate) id: OperationId,
}

/// The state of the task that carries out an operation.
struct OperationTask {
    store: Store,
    request: RequestId,
    events: Events,
    operation: OperationRequest,
    begun: oneshot::Sender<registry::Result<BegunOperation>>,
    _admitted: Option<Admitted>,
}

impl Reply {
    /// Like [`Reply::respond`]: once per key when the request has a key, and asynchronously when the client prefers that.
    pub(crate) async fn respond_as_operation<W, F>(
        self,
        operation: OperationRequest,
        work: W,
    ) -> Result<Response, Error>
    where
        W: FnOnce(WorkContext) -> F + Send + 'static,
        F: Future<Output = Result<FinalResponse, Error>> + Send + 'static,
    {
        if operation.once.is_none() && self.mode != ResponseMode::Async {
            return self.respond(work).await;
        }
        let organization = operation.principal.organization.clone();
        let is_async = self.mode == ResponseMode::Async;
        let (events, receiver) = self.open_events();
        let (begun, has_begun) = oneshot::channel();
        let _admitted = if is_async { Some(self.tasks.admit_asynchronous(&organization)?) } else { None };
        let (store, request) = (self.store.clone(), self.request.clone());
        let task = OperationTask { store, request, events, operation, begun, _admitted };
        let done = self.tasks.spawn(task.run(work))?;
        let never_began = || refuse_early_end(&"it never began");
        match has_begun.await.map_err(|_| never_began())?? {
            BegunOperation::New(operation) if is_async => self.respond_accepted(&organization, operation).await,
            BegunOperation::New(_) => match receiver {
                Some(receiver) => Ok(events::stream_response(receiver)),
                None => {
                    let answer = done.await.map_err(|error| refuse_early_end(&error))?;
                    Ok(answer.ok_or_else(never_began)?.into_response())
                }
            },
            BegunOperation::Repeated(operation) => self.respond_repeated(&organization, operation).await,
            BegunOperation::OtherRequest => Err(refuse_reused_key()),
        }
    }

    /// Responds with the path of the operation.
    async fn respond_accepted(
        self,
        organization: &OrganizationId,
        operation: TrackedOperation,
    ) -> Result<Response, Error> {
        let location = HeaderValue::try_from(format!("/v1/{organization}/operation/{}", operation.id));
        let location =
            location.map_err(|error| Error::Internal { detail: format!("invalid path of an operation: {error}") })?;
        let applied = HeaderValue::from_static("respond-async");
        let body = self.reader(organization).read_instance(operation).await?;
        Ok((StatusCode::ACCEPTED, [(LOCATION, location), (PREFERENCE_APPLIED, applied)], Json(body)).into_response())
    }

    /// Repeats the earlier response, in the mode of this request.
    async fn respond_repeated(
        self,
        organization: &OrganizationId,
        operation: TrackedOperation,
    ) -> Result<Response, Error> {
        if self.mode == ResponseMode::Async {
            return self.respond_accepted(organization, operation).await;
        }
        let Some(answer) = self.reader(organization).answer(&operation).await? else {
            return Err(Error::StillRunning { operation: operation.id });
        };
        let (events, receiver) = self.open_events();
        let mut response = match receiver {
            None => answer.into_response(),
            Some(receiver) => {
                events.end(&answer).await;
                events::stream_response(receiver)
            }
        };
        response.headers_mut().insert(REPLAYED, HeaderValue::from_static("true"));
        Ok(response)
    }

    fn reader<'a>(&'a self, organization: &'a OrganizationId) -> OperationReader<'a> {
        OperationReader { store: &self.store, organization, request: &self.request }
    }
}

impl OperationTask {
    /// Returns `None` when the operation did not begin here.
    async fn run<W, F>(self, work: W) -> Option<FinalResponse>
    where
        W: FnOnce(WorkContext) -> F,
        F: Future<Output = Result<FinalResponse, Error>> + Send + 'static,
    {
        let Self { store, request, events, operation, .. } = self;
        let OperationRequest { principal, kind, tool, once, request: body } = operation;
        let begun =
            store.operations().begin_operation(&principal, NewOperation { kind, tool, once, request: body }).await;
        let fresh = match &begun {
            Ok(BegunOperation::New(operation)) => Some(operation.id.clone()),
            _ => None,
        };
        // Sending fails when the client disconnected. The work is done all the same.
        let _ = self.begun.send(begun);
        let running = RunningOperation { store, request, organization: principal.organization, id: fresh? };
        let context = WorkContext { events: events.clone(), operation: Some(running.id.clone()) };
        let answer = running.carry_out(work(context).boxed()).await;
        events.end(&answer).await;
        Some(answer)
    }
}

impl RunningOperation {
    /// Does the work, and records its end.
    pub(crate) async fn carry_out(self, work: BoxFuture<'static, Result<FinalResponse, Error>>) -> FinalResponse {
        let Self { store, request, organization, id } = self;
        let answer = run_to_end(work, &request).await;
        record_end(store, organization, id, end_of(&answer)).await;
        answer
    }
}

fn end_of(answer: &FinalResponse) -> OperationEnd {
    match answer.find_refusal() {
        None => OperationEnd::Succeeded,
        Some(refused) => OperationEnd::Failed { refused, is_for_now: answer.status == StatusCode::SERVICE_UNAVAILABLE },
    }
}

/// Records the end of an operation. The result of the work is stored already. An end that cannot be recorded is retried,
/// or found at the next start of the server. A database that refuses writes also refuses new operations, so that there are
/// at most as many retries as running operations.
async fn record_end(store: Store, organization: OrganizationId, operation: OperationId, end: OperationEnd) {
    let Err(error) = store.operations().end_operation(&organization, &operation, end.clone()).await else { return };
    tracing::error!(%operation, %error, "cannot record the end of an operation; trying again");
    tokio::spawn(async move {
        loop {
            sleep(RETRY_INTERVAL).await;
            match store.operations().end_operation(&organization, &operation, end.clone()).await {
                Ok(()) | Err(registry::Error::Closed) => return,
                Err(error) => tracing::debug!(%operation, %error, "cannot record the end of an operation yet"),
            }
        }
    });
}
