//! `GET /v1/{organization}/user/me`: who the caller is, and what they may do.

use axum::Json;
use axum::extract::State;
use registry::Grants;
use serde::Serialize;

use crate::app::App;
use crate::auth::Caller;
use crate::error::Error;

#[derive(Serialize)]
pub(crate) struct Response {
    user_id: String,
    org_id: String,
    role: String,
    permissions: Grants,
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
