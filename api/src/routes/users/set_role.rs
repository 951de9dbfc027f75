//! `POST /v1/{organization}/user/{user_id}`: another role, from the next request of the user on.

use axum::extract::State;
use axum::http::StatusCode;
use registry::{RoleName, UserId};

use super::wire::role;
use crate::app::App;
use crate::auth::Caller;
use crate::error::Error;
use crate::extract::{Body, FromBody, InPath, Node};

pub(crate) struct Request(RoleName);

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
    fn from_body(body: &Node) -> Option<Self> {
        role(body).map(Self)
    }
}
