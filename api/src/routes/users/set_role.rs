//! `POST /v1/{organization}/user/{user_id}`: changes the role of a user, from their next request on.

use axum::extract::State;
use axum::http::StatusCode;
use registry::{RoleName, Store, UserId};
use serde_json::{Value, json};

use crate::caller::Caller;
use crate::error::Error;
use crate::extract::{Body, Fields, FromBody, InPath};
use crate::openapi::{OperationDoc, Tag};
use crate::routes::text_types::ROLE_NAME;

pub(crate) struct Request(RoleName);

pub(crate) fn operation() -> OperationDoc {
    OperationDoc::new("modify-user", Tag::IDENTITY, "Change the role of a user")
        .description("The new role applies from the next request of the user on.")
        .returns_nothing(204, "Changed.")
        .errors(400, &["role_unknown"])
        .errors(409, &["last_administrator"])
}

pub(crate) async fn handle(
    State(store): State<Store>,
    Caller(principal): Caller,
    InPath(user): InPath<UserId>,
    Body(Request(role)): Body<Request>,
) -> Result<StatusCode, Error> {
    store.access().set_user_role(&principal.organization, &user, role).await?;
    Ok(StatusCode::NO_CONTENT)
}

impl FromBody for Request {
    const NAME: &'static str = "ModifyUser";

    fn example() -> Value {
        json!({"role": "author"})
    }

    fn read(fields: &mut Fields) -> Option<Self> {
        fields.required("role", ROLE_NAME).map(Self)
    }
}
