//! The state of an operation. Its response is rendered again from its results, the runs in the history or the version, so
//! that the server keeps no copy of an output.

use api_kit::error::Error;
use api_kit::openapi::{OperationDoc, Parameter, schemas};
use api_kit::request_id::RequestId;
use registry::{OperationKind, OperationState, OrganizationId, Record, RunId, Store, TrackedOperation};

use super::FinalResponse;
use crate::wire::{InvocationResults, Operation, PublishedVersion, operation_example};

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
        .returns::<Operation>(202, "For `Prefer: respond-async`: the operation started.", operation_example())
        .errors(409, &["request_in_progress", "operation_interrupted"])
        .links_to("get-operation", "operation_id", "/id")
}

impl OperationReader<'_> {
    pub(crate) async fn read_instance(&self, operation: TrackedOperation) -> Result<Operation, Error> {
        let answer = self.answer(&operation).await?;
        let mut instance = Operation {
            id: operation.id,
            kind: operation.kind.as_str().to_owned(),
            status: "running".to_owned(),
            started_at: operation.started_at.to_string(),
            finished_at: operation.finished_at.map(|at| at.to_string()),
            http_status: None,
            result: None,
            error: None,
        };
        if let Some(answer) = answer {
            end(&mut instance, answer)?;
        }
        Ok(instance)
    }

    /// The response of an operation; `None` while it runs.
    pub(super) async fn answer(&self, operation: &TrackedOperation) -> Result<Option<FinalResponse>, Error> {
        let answer = match &operation.state {
            OperationState::Running => return Ok(None),
            OperationState::Failed(refused) => FinalResponse::from_stored(refused.clone()),
            OperationState::Succeeded => self.read_success(operation).await?,
            OperationState::Interrupted => {
                let runs = self.store.operations().operation_runs(self.organization, &operation.id).await?;
                let interrupted = Error::Interrupted { operation: operation.id.clone(), runs: collect_ids(runs) };
                FinalResponse::of(Err(interrupted), self.request)
            }
        };
        Ok(Some(answer))
    }

    async fn read_success(&self, operation: &TrackedOperation) -> Result<FinalResponse, Error> {
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

fn end(operation: &mut Operation, answer: FinalResponse) -> Result<(), Error> {
    operation.http_status = Some(answer.status.as_u16());
    let is_success = answer.status.is_success();
    let body = Some(answer.into_document()?);
    if is_success {
        (operation.status, operation.result) = ("succeeded".to_owned(), body);
    } else {
        (operation.status, operation.error) = ("failed".to_owned(), body);
    }
    Ok(())
}

fn collect_ids(runs: Vec<Record>) -> Vec<RunId> {
    runs.into_iter().map(|run| run.start.id).collect()
}
