//! The state of an operation. Its response is rendered again from its results, the runs in the history or the version, so
//! that the server keeps no copy of an output.

use api_kit::error::{Error, Refusal};
use api_kit::openapi::{OperationDoc, Parameter, schemas};
use api_kit::request_id::RequestId;
use registry::{
    InvocationId, OperationId, OperationKind, OperationState, OrganizationId, Record, Store, TrackedOperation,
};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::FinalResponse;
use crate::wire::schemas::Id;
use crate::wire::{InvocationResults, PublishedVersion};

/// An asynchronous operation, or a request with an idempotency key.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Operation")]
pub(crate) struct OperationInstance {
    /// The id of an asynchronous operation.
    #[schemars(with = "Id")]
    id: OperationId,
    #[schemars(extend("enum" = ["invoke", "publish"]))]
    kind: &'static str,
    #[schemars(extend("enum" = ["running", "succeeded", "failed"]))]
    status: &'static str,
    #[schemars(extend("format" = "date-time"))]
    started_at: String,
    /// Null while the operation runs.
    #[schemars(extend("format" = "date-time"))]
    finished_at: Option<String>,
    /// The status of the response.
    http_status: Option<u16>,
    /// The body of the response, after a success.
    #[schemars(with = "Option<Map<String, Value>>")]
    result: Option<Box<RawValue>>,
    /// The body of the response, after a failure.
    #[schemars(with = "Option<Refusal>")]
    error: Option<Box<RawValue>>,
}

/// Reads operations of an organisation. Faults are logged under the request.
pub(crate) struct OperationReader<'a> {
    pub(crate) store: &'a Store,
    pub(crate) organization: &'a OrganizationId,
    pub(crate) request: &'a RequestId,
}

/// Adds the responses that operations have to a description.
pub(crate) fn with_operation_responses(operation: OperationDoc) -> OperationDoc {
    let prefer = "`respond-async`: the response is 202 at once, and the operation has the result later. A request for a \
        stream of events takes precedence.";
    operation
        .parameter(Parameter::header("prefer", prefer, schemas::text()))
        .returns::<OperationInstance>(
            202,
            "For `Prefer: respond-async`: the operation started.",
            OperationInstance::example(),
        )
        .errors(409, &["request_in_progress", "operation_interrupted"])
        .links_to("get-operation", "operation_id", "/id")
}

impl OperationInstance {
    /// An example of an operation that started, for the OpenAPI document.
    pub(crate) fn example() -> Value {
        json!({
            "id": "691f3c705c1e4d7f8a9b0c2e", "kind": "invoke", "status": "running",
            "started_at": "2026-11-20T09:37:36.000Z", "finished_at": null, "http_status": null, "result": null,
            "error": null,
        })
    }

    fn end(&mut self, answer: FinalResponse) -> Result<(), Error> {
        self.http_status = Some(answer.status.as_u16());
        if answer.status.is_success() {
            (self.status, self.result) = ("succeeded", Some(answer.into_document()?));
        } else {
            (self.status, self.error) = ("failed", Some(answer.into_document()?));
        }
        Ok(())
    }
}

impl OperationReader<'_> {
    pub(crate) async fn instance(&self, operation: TrackedOperation) -> Result<OperationInstance, Error> {
        let answer = self.answer(&operation).await?;
        let mut instance = OperationInstance {
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

    /// The response of an operation; `None` while it runs.
    pub(super) async fn answer(&self, operation: &TrackedOperation) -> Result<Option<FinalResponse>, Error> {
        let answer = match &operation.state {
            OperationState::Running => return Ok(None),
            OperationState::Failed(refused) => FinalResponse::stored(refused.clone()),
            OperationState::Succeeded => self.success(operation).await?,
            OperationState::Interrupted => {
                let runs = self.store.operations().operation_runs(self.organization, &operation.id).await?;
                let interrupted = Error::Interrupted { operation: operation.id.clone(), runs: ids(runs) };
                FinalResponse::of(Err(interrupted), self.request)
            }
        };
        Ok(Some(answer))
    }

    async fn success(&self, operation: &TrackedOperation) -> Result<FinalResponse, Error> {
        let lost = || Error::Internal { detail: format!("the result of the operation {} is missing", operation.id) };
        match operation.kind {
            OperationKind::Invoke => {
                let runs = self.store.operations().operation_runs(self.organization, &operation.id).await?;
                FinalResponse::ok(&InvocationResults::of_records(runs).ok_or_else(lost)?)
            }
            OperationKind::Publish => {
                let version = self.store.operations().operation_version(self.organization, &operation.id).await?;
                let new_version = version.ok_or_else(lost)?.to_string();
                // The log of the version has its warnings.
                FinalResponse::created(&PublishedVersion { new_version, warnings: Vec::new() })
            }
        }
    }
}

fn ids(runs: Vec<Record>) -> Vec<InvocationId> {
    runs.into_iter().map(|run| run.start.id).collect()
}
