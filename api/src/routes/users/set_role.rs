//! `POST /v1/{organization}/user/{user_id}`: another role, from the next request of the user on.

use axum::extract::State;
use axum::http::StatusCode;
use registry::{RoleName, UserId};
use serde_json::{Value, json};

use super::wire::role;
use crate::app::App;
use crate::auth::Caller;
use crate::error::Error;
use crate::extract::{Body, FromBody, InPath, Node};
use crate::openapi::{Operation, Tag};
use crate::routes::names::role_name_form;

pub(crate) struct Request(RoleName);

pub(crate) fn operation() -> Operation {
    Operation::new("modify-user", Tag::Identity, "Give a user another role")
        .says("It counts from the next request of the user on.")
        .answers_nothing(204, "Changed.")
        .refuses(400, &["role_unknown"])
        .refuses(409, &["last_administrator"])
}

pub(crate) async fn handle(
    State(app): State<App>,
    Caller(principal): Caller,
    InPath(user): InPath<UserId>,
    Body(Request(role)): Body<Request>,
) -> Result<StatusCode, Error> {
    app.store().set_user_role(&principal.organization, &user, role).await?;
    Ok(StatusCode::NO_CONTENT)
}

impl FromBody for Request {
    const NAME: &'static str = "ModifyUser";

    fn form() -> Value {
        json!({"type": "object", "required": ["role"], "properties": {"role": role_name_form()}})
    }

    fn example() -> Value {
        json!({"role": "author"})
    }

    fn from_body(body: &Node) -> Option<Self> {
        role(body).map(Self)
    }
}
