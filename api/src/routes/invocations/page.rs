//! Responses with many records.

use api_kit::error::Error;
use registry::{Record, Slice};

use crate::wire::{InvocationList, ToolInvocation};
use crate::work::FinalResponse;

/// Renders a page of records. It can have megabytes, so it is rendered on a blocking thread.
pub(in crate::routes) async fn answer(found: Slice<Record>) -> Result<FinalResponse, Error> {
    let render = || FinalResponse::ok(&InvocationList::new(found, ToolInvocation::from));
    tokio::task::spawn_blocking(render).await.map_err(|error| Error::Internal { detail: error.to_string() })?
}
