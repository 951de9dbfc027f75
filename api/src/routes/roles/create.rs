//! `POST /v1/{organization}/role`: creates a custom role of the organisation.

use api_kit::caller::Caller;
use api_kit::error::Error;
use api_kit::extract::{Body, Fields, FromBody};
use api_kit::openapi::OperationDoc;
use api_kit::text_types::ROLE_NAME;
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use registry::{Grants, RoleName, Store};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use super::grants::grants;
use crate::sections;
use crate::wire::grants_example;

pub(crate) struct Request {
    name: RoleName,
    grants: Grants,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "CreatedRole")]
pub(crate) struct Response {
    name: String,
}

pub(crate) fn operation() -> OperationDoc {
    OperationDoc::new("create-role", sections::IDENTITY, "Create a role")
        .description("Creates a custom role of the organisation, in addition to the built-in roles.")
        .returns::<Response>(201, "The role's name.", json!({"name": "searcher"}))
        .errors(400, &["too_many"])
        .errors(409, &["already_exists"])
        .links_to("get-role", "role_name", "/name")
        .links_to("modify-role", "role_name", "/name")
        .links_to("delete-role", "role_name", "/name")
}

pub(crate) async fn handle(
    State(store): State<Store>,
    Caller(principal): Caller,
    Body(Request { name, grants }): Body<Request>,
) -> Result<(StatusCode, Json<Response>), Error> {
    let response = Response { name: name.to_string() };
    store.access().create_role(&principal.organization, name, grants).await?;
    Ok((StatusCode::CREATED, Json(response)))
}

impl FromBody for Request {
    const NAME: &'static str = "CreateRole";

    fn example() -> Value {
        json!({"name": "searcher", "grants": grants_example()})
    }

    fn read(fields: &mut Fields) -> Option<Self> {
        let name = fields.read_required("name", ROLE_NAME);
        let grants = fields.read_required("grants", grants());
        Some(Self { name: name?, grants: grants? })
    }
}
