//! `POST /v1/{organization}/user`: a new user with a role. They get in once they have a key.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use registry::{NewUser, UserId};
use serde::Serialize;

use super::wire::role;
use crate::app::App;
use crate::auth::Caller;
use crate::error::Error;
use crate::extract::{Body, FromBody, Node};

/// What stands where user ids stand in paths and is none, or is taken out of paths by clients.
const RESERVED: [&str; 4] = ["me", "signin_with_api_key", ".", ".."];

pub(crate) struct Request(NewUser);

#[derive(Serialize)]
pub(crate) struct Response {
    user_id: String,
}

pub(crate) async fn handle(
    State(app): State<App>,
    Caller(principal): Caller,
    Body(Request(user)): Body<Request>,
) -> Result<(StatusCode, Json<Response>), Error> {
    let user_id = user.id.to_string();
    app.store().create_user(&principal.organization, user).await?;
    Ok((StatusCode::CREATED, Json(Response { user_id })))
}

impl FromBody for Request {
    fn from_body(body: &Node) -> Option<Self> {
        let id = body.required("user_id").and_then(|node| id(&node));
        let role = role(body);
        Some(Self(NewUser { id: id?, role: role? }))
    }
}

fn id(node: &Node) -> Option<UserId> {
    let id = node.parsed(UserId::parse)?;
    if RESERVED.contains(&id.as_str()) {
        return node.note("value_error", "user id must not be one of: me, signin_with_api_key, ., ..");
    }
    Some(id)
}
