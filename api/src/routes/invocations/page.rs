//! Answers with many records.

use registry::Invocation;
use serde::Serialize;

use super::wire::ToolInvocationInstance;
use crate::error::Error;
use crate::work::Answer;

/// The answer around records. It can have megabytes, so it is written where it holds up no other request.
pub(super) async fn answer<T: Serialize>(
    records: Vec<Invocation>,
    around: impl FnOnce(Vec<ToolInvocationInstance>) -> T + Send + 'static,
) -> Result<Answer, Error> {
    let written = tokio::task::spawn_blocking(move || {
        Answer::ok(&around(records.into_iter().map(ToolInvocationInstance::from).collect()))
    });
    written.await.map_err(|error| Error::Internal { detail: error.to_string() })?
}
