//! `GET /v1/{organization}/organization`: the caller's organisation.

use api_kit::caller::Caller;
use api_kit::error::Error;
use api_kit::openapi::OperationDoc;
use axum::Json;
use axum::extract::State;
use registry::Store;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;

use crate::sections;

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Organization")]
pub(crate) struct Response {
    org_id: String,
    /// The same as the id.
    name: String,
    #[schemars(extend("format" = "date-time"))]
    created_at: String,
}

pub(crate) fn operation() -> OperationDoc {
    let example = json!({"org_id": "acme", "name": "acme", "created_at": "2026-11-20T09:32:05.000Z"});
    OperationDoc::new("get-organization", sections::IDENTITY, "Show the organisation")
        .description("The caller's organisation.")
        .returns::<Response>(200, "The organisation.", example)
}

pub(crate) async fn handle(State(store): State<Store>, Caller(principal): Caller) -> Result<Json<Response>, Error> {
    let organization = principal.organization;
    let created_at = store.access().organization_created_at(&organization).await?.ok_or(Error::NotFound)?.to_string();
    Ok(Json(Response { org_id: organization.to_string(), name: organization.to_string(), created_at }))
}
