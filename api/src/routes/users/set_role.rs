//! `POST /v1/{organization}/user/{user_id}`: changes the role of a user, from their next request on.

use api_kit::caller::Caller;
use api_kit::error::Error;
use api_kit::extract::{Body, Fields, FromBody, InPath};
use api_kit::openapi::OperationDoc;
use api_kit::text_types::ROLE_NAME;
use axum::extract::State;
use axum::http::StatusCode;
use registry::{RoleName, Store, UserId};
use serde_json::{Value, json};

use crate::sections;

pub(crate) struct Request(RoleName);

pub(crate) fn operation() -> OperationDoc {
    OperationDoc::new("modify-user", sections::IDENTITY, "Change the role of a user")
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
        fields.read_required("role", ROLE_NAME).map(Self)
    }
}
