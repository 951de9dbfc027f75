//! `GET /v1/{organization}/user`: users with their roles, oldest first.

use axum::Json;
use axum::extract::State;
use registry::{Page, Store};
use serde_json::json;

use crate::caller::Caller;
use crate::error::Error;
use crate::extract::{FromQuery, Query, QueryParameters};
use crate::openapi::{OperationDoc, Tag};
use crate::wire::{User, UserList};

pub(crate) struct Request(Page);

pub(crate) fn operation() -> OperationDoc {
    let example = json!({"users": [super::user_example()], "has_more": false, "continuation_token": null});
    OperationDoc::new("get-users", Tag::IDENTITY, "List users")
        .description("Users with their roles, oldest first.")
        .returns::<UserList>(200, "One page of the list.", example)
}

pub(crate) async fn handle(
    State(store): State<Store>,
    Caller(principal): Caller,
    Query(Request(page)): Query<Request>,
) -> Result<Json<UserList>, Error> {
    let organization = &principal.organization;
    let found = store.access().list_users(organization, page).await?;
    Ok(Json(UserList::new(found, |user| User::new(organization, user))))
}

impl FromQuery for Request {
    fn from_query(query: &mut QueryParameters) -> Self {
        Self(query.page(1..=100, 100))
    }
}
