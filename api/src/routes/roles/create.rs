//! `POST /v1/{organization}/role`: a role of the organisation's own.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use registry::{Grants, RoleName};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use super::wire::{grants, grants_example, grants_form};
use crate::app::App;
use crate::auth::Caller;
use crate::error::Error;
use crate::extract::{Body, FromBody, Node};
use crate::openapi::{Operation, Tag};
use crate::routes::names::role_name_form;

pub(crate) struct Request {
    name: RoleName,
    grants: Grants,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "CreatedRole")]
pub(crate) struct Response {
    name: String,
}

pub(crate) fn operation() -> Operation {
    Operation::new("create-role", Tag::Identity, "Create a role")
        .says("A role of the organisation's own, beside those that are built in.")
        .answers::<Response>(201, "The role's name.", json!({"name": "searcher"}))
        .refuses(400, &["too_many"])
        .refuses(409, &["already_exists"])
        .leads_to("get-role", "role_name", "/name")
        .leads_to("modify-role", "role_name", "/name")
        .leads_to("delete-role", "role_name", "/name")
}

pub(crate) async fn handle(
    State(app): State<App>,
    Caller(principal): Caller,
    Body(Request { name, grants }): Body<Request>,
) -> Result<(StatusCode, Json<Response>), Error> {
    let response = Response { name: name.to_string() };
    app.store().create_role(&principal.organization, name, grants).await?;
    Ok((StatusCode::CREATED, Json(response)))
}

impl FromBody for Request {
    const NAME: &'static str = "CreateRole";

    fn form() -> Value {
        json!({
            "type": "object",
            "required": ["name", "grants"],
            "properties": {"name": role_name_form(), "grants": grants_form()},
        })
    }

    fn example() -> Value {
        json!({"name": "searcher", "grants": grants_example()})
    }

    fn from_body(body: &Node) -> Option<Self> {
        let name = body.required("name").and_then(|node| node.parsed(RoleName::parse));
        let grants = grants(body);
        Some(Self { name: name?, grants: grants? })
    }
}
