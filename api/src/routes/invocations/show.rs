//! `GET /v1/{organization}/tool/invocation/{invocation_id}`: one record, also of a run that goes on.

use axum::Json;
use axum::extract::State;
use registry::InvocationId;

use super::wire::{self, ToolInvocationInstance};
use crate::app::App;
use crate::auth::Caller;
use crate::error::Error;
use crate::extract::InPath;
use crate::openapi::{Operation, Tag};

pub(crate) fn operation() -> Operation {
    Operation::new("get-tool-invocation", Tag::History, "Show a run")
        .says("One record, also of a run that goes on.")
        .answers::<ToolInvocationInstance>(200, "The record.", wire::example())
}

pub(crate) async fn handle(
    State(app): State<App>,
    Caller(principal): Caller,
    InPath(invocation): InPath<InvocationId>,
) -> Result<Json<ToolInvocationInstance>, Error> {
    let found = app.store().get_invocation(&principal.organization, &invocation).await?;
    Ok(Json(found.ok_or(Error::NotFound)?.into()))
}
