//! `DELETE /v1/{organization}/user/{user_id}`: the user goes with their keys; what they made stays.

use axum::extract::State;
use axum::http::StatusCode;
use registry::UserId;

use crate::app::App;
use crate::auth::Caller;
use crate::error::Error;
use crate::extract::InPath;

pub(crate) async fn handle(
    State(app): State<App>,
    Caller(principal): Caller,
    InPath(user): InPath<UserId>,
) -> Result<StatusCode, Error> {
    app.store().remove_user(&principal.organization, &user).await?;
    Ok(StatusCode::NO_CONTENT)
}
