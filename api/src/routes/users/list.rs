//! `GET /v1/{organization}/user`: users with their roles, oldest first.

use api_kit::caller::Caller;
use api_kit::error::Error;
use api_kit::extract::{FromQuery, Query, QueryParameters};
use api_kit::openapi::OperationDoc;
use axum::Json;
use axum::extract::State;
use registry::{Page, Slice, Store};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;

use crate::sections;
use crate::wire::User;

pub(crate) struct Request(Page);

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "UserList")]
pub(crate) struct Response {
    users: Vec<User>,
    has_more: bool,
    continuation_token: Option<u64>,
}

pub(crate) fn operation() -> OperationDoc {
    let example = json!({"users": [super::user_example()], "has_more": false, "continuation_token": null});
    OperationDoc::new("get-users", sections::IDENTITY, "List users")
        .description("Users with their roles, oldest first.")
        .returns::<Response>(200, "One page of the list.", example)
}

pub(crate) async fn handle(
    State(store): State<Store>,
    Caller(principal): Caller,
    Query(Request(page)): Query<Request>,
) -> Result<Json<Response>, Error> {
    let organization = &principal.organization;
    let Slice { items, next } = store.access().list_users(organization, page).await?;
    let users = items.into_iter().map(|user| User::new(organization, user)).collect();
    Ok(Json(Response { users, has_more: next.is_some(), continuation_token: next }))
}

impl FromQuery for Request {
    fn from_query(query: &mut QueryParameters) -> Self {
        Self(query.page(1..=100, 100))
    }
}
