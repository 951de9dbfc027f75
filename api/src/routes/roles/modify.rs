//! `POST /v1/{organization}/role/{role_name}`: other grants, from the next request of the role's users on.

use axum::extract::State;
use axum::http::StatusCode;
use registry::{Grants, RoleName};
use serde_json::{Value, json};

use super::wire::{grants, grants_example, grants_form};
use crate::app::App;
use crate::auth::Caller;
use crate::error::Error;
use crate::extract::{Body, FromBody, InPath, Node};
use crate::openapi::{Operation, Tag};

pub(crate) struct Request(Grants);

pub(crate) fn operation() -> Operation {
    Operation::new("modify-role", Tag::Identity, "Change a role")
        .says("Replaces all grants of a role of the organisation's own, from the next request of its users on.")
        .answers_nothing(204, "Changed.")
        .refuses(400, &["role_built_in"])
        .refuses(409, &["last_administrator"])
}

pub(crate) async fn handle(
    State(app): State<App>,
    Caller(principal): Caller,
    InPath(role): InPath<RoleName>,
    Body(Request(grants)): Body<Request>,
) -> Result<StatusCode, Error> {
    app.store().modify_role(&principal.organization, &role, grants).await?;
    Ok(StatusCode::NO_CONTENT)
}

impl FromBody for Request {
    const NAME: &'static str = "ModifyRole";

    fn form() -> Value {
        json!({"type": "object", "required": ["grants"], "properties": {"grants": grants_form()}})
    }

    fn example() -> Value {
        json!({"grants": grants_example()})
    }

    fn from_body(body: &Node) -> Option<Self> {
        grants(body).map(Self)
    }
}
