//! Responses with many records.

use api_kit::error::Error;
use registry::Record;
use serde::Serialize;

use crate::wire::ToolInvocation;
use crate::work::FinalResponse;

/// Renders a response with records. It can have megabytes, so it is rendered on a blocking thread.
pub(in crate::routes) async fn answer<T: Serialize>(
    records: Vec<Record>,
    response: impl FnOnce(Vec<ToolInvocation>) -> T + Send + 'static,
) -> Result<FinalResponse, Error> {
    let rendered = tokio::task::spawn_blocking(move || {
        FinalResponse::ok(&response(records.into_iter().map(ToolInvocation::from).collect()))
    });
    rendered.await.map_err(|error| Error::Internal { detail: error.to_string() })?
}
