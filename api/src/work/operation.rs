//! What is known of an operation: that it runs, or how it ended. Its answer is told again from what it made, the runs in
//! the history or the version, so that no copy of an output is kept anywhere.

use registry::{
    Invocation, InvocationId, OperationId, OperationKind, OperationState, OrganizationId, TrackedOperation,
};
use serde::Serialize;
use serde_json::value::RawValue;

use super::Answer;
use crate::app::App;
use crate::error::Error;
use crate::request_id::RequestId;
use crate::routes::results;
use crate::routes::versions::publish;

/// An operation on the wire.
#[derive(Serialize)]
pub(crate) struct OperationInstance {
    id: OperationId,
    /// `invoke` or `publish`.
    kind: &'static str,
    status: &'static str,
    started_at: String,
    finished_at: Option<String>,
    /// What the status of the plain answer was.
    http_status: Option<u16>,
    /// The body of the plain answer, when it is a success.
    result: Option<Box<RawValue>>,
    /// The body of the plain answer, when it is a refusal.
    error: Option<Box<RawValue>>,
}

impl OperationInstance {
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
