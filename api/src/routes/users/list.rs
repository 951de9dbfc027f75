//! `GET /v1/{organization}/user`: users with their roles, oldest first.

use api_kit::caller::Caller;
use api_kit::error::Error;
use api_kit::extract::{FromQuery, Query, QueryParameters};
use api_kit::openapi::OperationDoc;
use axum::Json;
use axum::extract::State;
use registry::{Page, Store};
use serde_json::json;

use crate::sections;
use crate::wire::{User, UserList};

pub(crate) struct Request(Page);

pub(crate) fn operation() -> OperationDoc {
    let example = json!({"users": [super::user_example()], "has_more": false, "continuation_token": null});
    OperationDoc::new("get-users", sections::IDENTITY, "List users")
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
        Self(query.read_page(1..=100, 100))
    }
}
