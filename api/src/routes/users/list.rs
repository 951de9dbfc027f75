//! `GET /v1/{organization}/user`: users with their roles, those who came first at the top.

use axum::Json;
use axum::extract::State;
use registry::{Page, Slice};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;

use super::wire::{self, UserInstance};
use crate::app::App;
use crate::auth::Caller;
use crate::error::Error;
use crate::extract::{FromQuery, Parameters, Query};
use crate::openapi::{Operation, Tag};

pub(crate) struct Request(Page);

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "UserList")]
pub(crate) struct Response {
    users: Vec<UserInstance>,
    has_more: bool,
    continuation_token: Option<u64>,
}

pub(crate) fn operation() -> Operation {
    let example = json!({"users": [wire::example()], "has_more": false, "continuation_token": null});
    Operation::new("get-users", Tag::Identity, "List users")
        .says("Users with their roles, those who came first at the top.")
        .answers::<Response>(200, "One page of the list.", example)
}

pub(crate) async fn handle(
    State(app): State<App>,
    Caller(principal): Caller,
    Query(Request(page)): Query<Request>,
) -> Result<Json<Response>, Error> {
    let organization = &principal.organization;
    let Slice { items, next } = app.store().list_users(organization, page).await?;
    let users = items.into_iter().map(|user| UserInstance::new(organization, user)).collect();
    Ok(Json(Response { users, has_more: next.is_some(), continuation_token: next }))
}

impl FromQuery for Request {
    fn from_query(query: &mut Parameters) -> Self {
        Self(query.page(1..=100, 100))
    }
}
