//! `GET /v1/{organization}/user/{user_id}`: one user.

use axum::Json;
use axum::extract::State;
use registry::UserId;

use super::wire::{self, UserInstance};
use crate::app::App;
use crate::auth::Caller;
use crate::error::Error;
use crate::extract::InPath;
use crate::openapi::{Operation, Tag};

pub(crate) fn operation() -> Operation {
    Operation::new("get-user", Tag::Identity, "Show a user").says("One user with their role.").answers::<UserInstance>(
        200,
        "The user.",
        wire::example(),
    )
}

pub(crate) async fn handle(
    State(app): State<App>,
    Caller(principal): Caller,
    InPath(user): InPath<UserId>,
) -> Result<Json<UserInstance>, Error> {
    let found = app.store().get_user(&principal.organization, &user).await?.ok_or(Error::NotFound)?;
    Ok(Json(UserInstance::new(&principal.organization, found)))
}
