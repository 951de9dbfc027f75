//! Work that is remembered: carried out once per idempotency key, and known to those who ask later.
//!
//! Beginning, working and ending happen in one task, so that no key is ever taken by a request whose client went away
//! before its work began.

use std::time::Duration;

use axum::Json;
use axum::http::StatusCode;
use axum::http::header::{HeaderName, HeaderValue, LOCATION};
use axum::response::{IntoResponse, Response};
use registry::{
    BegunOperation, NewOperation, Once, OperationEnd, OperationId, OperationKind, OrganizationId, Principal, ToolId,
    TrackedOperation,
};
use runner::Admitted;
use tokio::sync::oneshot;
use tokio::time::sleep;

use super::manner::Manner;
use super::{Answer, Events, Job, OperationInstance, Reply, ended_early, events, first_of, operation, to_its_end};
use crate::app::App;
use crate::error::Error;
use crate::extract::key_reused;
use crate::request_id::RequestId;

/// Says that the answer was given before.
const REPLAYED: HeaderName = HeaderName::from_static("idempotency-replayed");
const PREFERENCE_APPLIED: HeaderName = HeaderName::from_static("preference-applied");

/// Between two tries to keep how an operation ended.
const LATER: Duration = Duration::from_secs(5);

/// What a request asks for, apart from the work itself.
#[derive(Clone)]
pub(crate) struct Task {
    pub(crate) principal: Principal,
    pub(crate) kind: OperationKind,
    pub(crate) tool: ToolId,
    pub(crate) once: Option<Once>,
}

/// What the task that carries out the work takes with it.
struct Carrier {
    app: App,
    request: RequestId,
    events: Events,
    task: Task,
    tell: oneshot::Sender<registry::Result<BegunOperation>>,
    _place: Option<Admitted>,
}

impl Reply {
    /// As [`Reply::with`]: once per key when the request has one, and later when the client prefers that.
    pub(crate) async fn tracked<W, F>(self, app: &App, task: Task, work: W) -> Result<Response, Error>
    where
        W: FnOnce(Job) -> F + Send + 'static,
        F: Future<Output = Result<Answer, Error>> + Send + 'static,
    {
        if task.once.is_none() && self.manner != Manner::Later {
            return self.with(app, work).await;
        }
        // In a box, because every call would have room for it.
        Box::pin(self.remembered(app, task, work)).await
    }

    async fn remembered<W, F>(self, app: &App, task: Task, work: W) -> Result<Response, Error>
    where
        W: FnOnce(Job) -> F + Send + 'static,
        F: Future<Output = Result<Answer, Error>> + Send + 'static,
    {
        let organization = task.principal.organization.clone();
        let (events, receiver) = self.events();
        let (tell, told) = oneshot::channel();
        let _place = if self.manner == Manner::Later { Some(app.place_apart(&organization)?) } else { None };
        let carrier = Carrier { app: app.clone(), request: self.request.clone(), events, task, tell, _place };
        let done = app.spawn(carrier.carry_out(work))?;
        let never_began = || ended_early(&"it never began");
        match told.await.map_err(|_| never_began())?? {
            BegunOperation::Fresh(operation) if self.manner == Manner::Later => {
                self.accepted(app, &organization, operation).await
            }
            BegunOperation::Fresh(_) => first_of(receiver, done, |answer| answer.ok_or_else(never_began)).await,
            BegunOperation::Repeated(operation) => self.repeated(app, &organization, operation).await,
            BegunOperation::OtherRequest => Err(key_reused()),
        }
    }

    /// The address at which the answer can be asked for.
    async fn accepted(
        self,
        app: &App,
        organization: &OrganizationId,
        operation: TrackedOperation,
    ) -> Result<Response, Error> {
        let location = HeaderValue::try_from(format!("/v1/{organization}/operation/{}", operation.id));
        let location = location.map_err(|error| Error::Internal { detail: format!("no address: {error}") })?;
        let applied = HeaderValue::from_static("respond-async");
        let body = OperationInstance::of(app, organization, operation, &self.request).await?;
        Ok((StatusCode::ACCEPTED, [(LOCATION, location), (PREFERENCE_APPLIED, applied)], Json(body)).into_response())
    }

    /// The answer that was given before, in the manner that is wanted now.
    async fn repeated(
        self,
        app: &App,
        organization: &OrganizationId,
        operation: TrackedOperation,
    ) -> Result<Response, Error> {
        if self.manner == Manner::Later {
            return self.accepted(app, organization, operation).await;
        }
        let Some(answer) = operation::outcome(app, organization, &operation, &self.request).await? else {
            return Err(Error::StillRunning { operation: operation.id });
        };
        let (events, receiver) = self.events();
        let mut response = match receiver {
            None => answer.into_response(),
            Some(receiver) => {
                events.end(&answer).await;
                events::response(receiver)
            }
        };
        response.headers_mut().insert(REPLAYED, HeaderValue::from_static("true"));
        Ok(response)
    }
}

impl Carrier {
    async fn carry_out<W, F>(self, work: W) -> Option<Answer>
    where
        W: FnOnce(Job) -> F,
        F: Future<Output = Result<Answer, Error>>,
    {
        let Self { app, request, events, task, tell, _place } = self;
        let new = NewOperation { kind: task.kind, tool: task.tool, once: task.once };
        let begun = app.store().begin_operation(&task.principal, new).await;
        let fresh = match &begun {
            Ok(BegunOperation::Fresh(operation)) => Some(operation.id.clone()),
            _ => None,
        };
        // A client that went away does not hear; its work is done all the same.
        let _ = tell.send(begun);
        let operation = fresh?;
        let job = Job { events: events.clone(), operation: Some(operation.clone()) };
        let answer = to_its_end(work(job), &request).await;
        end(&app, &task.principal.organization, &operation, end_of(task.kind, &answer)).await;
        events.end(&answer).await;
        Some(answer)
    }
}

/// A publication that is told to come later did nothing, and may come later under the same key.
fn end_of(kind: OperationKind, answer: &Answer) -> OperationEnd {
    match answer.refused() {
        None => OperationEnd::Succeeded,
        Some(refused) => {
            let is_for_now = answer.status == StatusCode::SERVICE_UNAVAILABLE;
            OperationEnd::Failed { refused, frees_key: kind == OperationKind::Publish && is_for_now }
        }
    }
}

/// What came of the work is kept already. An end that cannot be kept is kept later, or found out at the next start of the
/// server. A database that takes no ends takes no beginnings, so that these are no more than the operations under way.
async fn end(app: &App, organization: &OrganizationId, operation: &OperationId, end: OperationEnd) {
    let Err(error) = app.store().end_operation(organization, operation, end.clone()).await else { return };
    tracing::error!(%operation, %error, "the end of an operation is kept later");
    let (store, organization, operation) = (app.store().clone(), organization.clone(), operation.clone());
    tokio::spawn(async move {
        loop {
            sleep(LATER).await;
            match store.end_operation(&organization, &operation, end.clone()).await {
                Ok(()) | Err(registry::Error::Closed) => return,
                Err(error) => tracing::debug!(%operation, %error, "the end of an operation cannot be kept yet"),
            }
        }
    });
}
