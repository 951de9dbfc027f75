//! What is known of an operation: that it runs, or how it ended. Its answer is told again from what it made, the runs in
//! the history or the version, so that no copy of an output is kept anywhere.

use registry::{
    Invocation, InvocationId, OperationId, OperationKind, OperationState, OrganizationId, TrackedOperation,
};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::Answer;
use crate::app::App;
use crate::error::{Error, Refusal};
use crate::openapi::{Operation, Parameter, form};
use crate::request_id::RequestId;
use crate::routes::results;
use crate::routes::versions::publish;

/// Work that is remembered.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Operation")]
pub(crate) struct OperationInstance {
    id: OperationId,
    #[schemars(extend("enum" = ["invoke", "publish"]))]
    kind: &'static str,
    #[schemars(extend("enum" = ["running", "succeeded", "failed"]))]
    status: &'static str,
    #[schemars(extend("format" = "date-time"))]
    started_at: String,
    /// Null while it runs.
    #[schemars(extend("format" = "date-time"))]
    finished_at: Option<String>,
    /// The status of the answer.
    http_status: Option<u16>,
    /// The body of the answer, when it is a success.
    #[schemars(with = "Option<Map<String, Value>>")]
    result: Option<Box<RawValue>>,
    /// The body of the answer, when it is a refusal.
    #[schemars(with = "Option<Refusal>")]
    error: Option<Box<RawValue>>,
}

impl OperationInstance {
    /// One that has just begun, for the document.
    pub(crate) fn example() -> Value {
        json!({
            "id": "691f3c705c1e4d7f8a9b0c2e", "kind": "invoke", "status": "running",
            "started_at": "2026-11-20T09:37:36.000Z", "finished_at": null, "http_status": null, "result": null,
            "error": null,
        })
    }

    pub(crate) async fn of(
        app: &App,
        organization: &OrganizationId,
        operation: TrackedOperation,
        request: &RequestId,
    ) -> Result<Self, Error> {
        let answer = outcome(app, organization, &operation, request).await?;
        let mut instance = Self {
            id: operation.id,
            kind: operation.kind.as_str(),
            status: "running",
            started_at: operation.started_at.to_string(),
            finished_at: operation.finished_at.map(|at| at.to_string()),
            http_status: None,
            result: None,
            error: None,
        };
        if let Some(answer) = answer {
            instance.end(answer)?;
        }
        Ok(instance)
    }

    fn end(&mut self, answer: Answer) -> Result<(), Error> {
        self.http_status = Some(answer.status.as_u16());
        if answer.status.is_success() {
            (self.status, self.result) = ("succeeded", Some(answer.into_document()?));
        } else {
            (self.status, self.error) = ("failed", Some(answer.into_document()?));
        }
        Ok(())
    }
}

/// What the document tells of all work that is remembered.
pub(crate) fn remembered(operation: Operation) -> Operation {
    let prefer = "`respond-async` answers with 202 at once, and the answer can be asked for later. A stream of events, \
        when that is asked for too, wins.";
    operation
        .reads(Parameter::header("prefer", prefer, form::text()))
        .answers::<OperationInstance>(202, "For `Prefer: respond-async`: it has begun.", OperationInstance::example())
        .refuses(409, &["request_in_progress", "operation_interrupted"])
        .leads_to("get-operation", "operation_id", "/id")
}

/// The answer, unless the operation still runs.
pub(super) async fn outcome(
    app: &App,
    organization: &OrganizationId,
    operation: &TrackedOperation,
    request: &RequestId,
) -> Result<Option<Answer>, Error> {
    let answer = match &operation.state {
        OperationState::Running => return Ok(None),
        OperationState::Failed(refused) => Answer::kept(refused.clone()),
        OperationState::Succeeded => success(app, organization, operation).await?,
        OperationState::Interrupted => {
            let runs = app.store().operation_runs(organization, &operation.id).await?;
            let interrupted = Error::Interrupted { operation: operation.id.clone(), runs: ids(runs) };
            Answer::of(Err(interrupted), request)
        }
    };
    Ok(Some(answer))
}

async fn success(app: &App, organization: &OrganizationId, operation: &TrackedOperation) -> Result<Answer, Error> {
    let lost = || Error::Internal { detail: format!("what the operation {} made is not there", operation.id) };
    match operation.kind {
        OperationKind::Invoke => {
            let runs = app.store().operation_runs(organization, &operation.id).await?;
            results::of_records(runs).ok_or_else(lost)?
        }
        OperationKind::Publish => {
            let version = app.store().operation_version(organization, &operation.id).await?;
            publish::published(version.ok_or_else(lost)?)
        }
    }
}

fn ids(runs: Vec<Invocation>) -> Vec<InvocationId> {
    runs.into_iter().map(|run| run.id).collect()
}
