//! `GET /v1/{organization}/api_key`: the keys of all users or of one user, newest first.

use api_kit::caller::Caller;
use api_kit::error::Error;
use api_kit::extract::{FromQuery, Query, QueryParameters};
use api_kit::openapi::OperationDoc;
use api_kit::text_types::USER_ID;
use axum::Json;
use axum::extract::State;
use registry::{Page, Slice, Store, UserId};

use super::terms::{ApiKeys, list_example};
use crate::sections;

pub(crate) struct Request {
    user: Option<UserId>,
    page: Page,
}

pub(crate) fn operation() -> OperationDoc {
    OperationDoc::new("get-api-keys", sections::IDENTITY, "List keys")
        .description(
            "The keys of all users without their secrets, newest first. The list includes expired and revoked keys.",
        )
        .returns::<ApiKeys>(200, "One page of the list.", list_example())
}

pub(crate) async fn handle(
    State(store): State<Store>,
    Caller(principal): Caller,
    Query(Request { user, page }): Query<Request>,
) -> Result<Json<ApiKeys>, Error> {
    let account = match user {
        None => None,
        Some(user) => match store.access().get_user(&principal.organization, &user).await? {
            Some(found) => Some(found.account),
            // Keys go with their user.
            None => return Ok(Json(Slice { items: Vec::new(), next: None }.into())),
        },
    };
    Ok(Json(store.access().list_api_keys(&principal.organization, account.as_ref(), page).await?.into()))
}

impl FromQuery for Request {
    fn from_query(query: &mut QueryParameters) -> Self {
        Self { user: query.one("user_id", "Only keys of this user.", &USER_ID), page: query.page(1..=100, 100) }
    }
}
