//! `POST /v1/{organization}/role/{role_name}`: other grants, from the next request of the role's users on.

use axum::extract::State;
use axum::http::StatusCode;
use registry::{Grants, RoleName};

use super::wire::grants;
use crate::app::App;
use crate::auth::Caller;
use crate::error::Error;
use crate::extract::{Body, FromBody, InPath, Node};

pub(crate) struct Request(Grants);

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
    fn from_body(body: &Node) -> Option<Self> {
        grants(body).map(Self)
    }
}
