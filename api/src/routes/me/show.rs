//! `GET /v1/{organization}/user/me`: who the caller is, and what they may do.

use axum::Json;
use axum::extract::State;
use registry::{Grant, Grants};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;

use crate::app::App;
use crate::auth::Caller;
use crate::error::Error;
use crate::openapi::{Operation, Tag};

/// The caller.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Me")]
pub(crate) struct Response {
    user_id: String,
    org_id: String,
    role: String,
    #[schemars(with = "Vec<Grant>")]
    permissions: Grants,
}

pub(crate) fn operation() -> Operation {
    let permissions = json!([{"permission": "Tool:InvokeTool", "conditions": []}]);
    let example = json!({"user_id": "ada", "org_id": "acme", "role": "invoker", "permissions": permissions});
    Operation::new("get-me", Tag::Identity, "Show oneself")
        .says("Who the caller is, and what they may do.")
        .answers::<Response>(200, "The caller.", example)
}

pub(crate) async fn handle(State(app): State<App>, Caller(principal): Caller) -> Result<Json<Response>, Error> {
    // Between the check of the token and this the user can have been removed.
    let user = app.store().get_user(&principal.organization, &principal.user).await?.ok_or(Error::Unauthenticated)?;
    Ok(Json(Response {
        user_id: user.id.into(),
        org_id: principal.organization.into(),
        role: user.role.into(),
        permissions: principal.grants,
    }))
}
