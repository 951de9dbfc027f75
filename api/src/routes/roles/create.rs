//! `POST /v1/{organization}/role`: a role of the organisation's own.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use registry::{Grants, RoleName};
use serde::Serialize;

use super::wire::grants;
use crate::app::App;
use crate::auth::Caller;
use crate::error::Error;
use crate::extract::{Body, FromBody, Node};

pub(crate) struct Request {
    name: RoleName,
    grants: Grants,
}

#[derive(Serialize)]
pub(crate) struct Response {
    name: String,
}

pub(crate) async fn handle(
    State(app): State<App>,
    Caller(principal): Caller,
    Body(Request { name, grants }): Body<Request>,
) -> Result<(StatusCode, Json<Response>), Error> {
    let response = Response { name: name.to_string() };
    app.store().create_role(&principal.organization, name, grants).await?;
    Ok((StatusCode::CREATED, Json(response)))
}

impl FromBody for Request {
    fn from_body(body: &Node) -> Option<Self> {
        let name = body.required("name").and_then(|node| node.parsed(RoleName::parse));
        let grants = grants(body);
        Some(Self { name: name?, grants: grants? })
    }
}
