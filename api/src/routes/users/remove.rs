//! `DELETE /v1/{organization}/user/{user_id}`: the user goes with their keys; what they made stays.

use axum::extract::State;
use axum::http::StatusCode;
use registry::UserId;

use crate::app::App;
use crate::auth::Caller;
use crate::error::Error;
use crate::extract::InPath;
use crate::openapi::{Operation, Tag};

pub(crate) fn operation() -> Operation {
    Operation::new("remove-user", Tag::Identity, "Remove a user")
        .says("The user goes, and their keys and tokens with them. What they made stays.")
        .answers_nothing(204, "Removed.")
        .refuses(409, &["last_administrator"])
}

pub(crate) async fn handle(
    State(app): State<App>,
    Caller(principal): Caller,
    InPath(user): InPath<UserId>,
) -> Result<StatusCode, Error> {
    app.store().remove_user(&principal.organization, &user).await?;
    Ok(StatusCode::NO_CONTENT)
}
