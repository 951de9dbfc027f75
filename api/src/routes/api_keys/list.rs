//! `GET /v1/{organization}/api_key`: the keys of all users or of one user, newest first.

use api_kit::caller::Caller;
use api_kit::error::Error;
use api_kit::extract::{FromQuery, Query, QueryParameters};
use api_kit::openapi::OperationDoc;
use api_kit::text_types::USER_ID;
use axum::Json;
use axum::extract::State;
use registry::{Page, Store, UserId};

use super::terms::list_example;
use crate::sections;
use crate::wire::{ApiKey, ApiKeyList};

pub(crate) struct Request {
    user: Option<UserId>,
    page: Page,
}

pub(crate) fn operation() -> OperationDoc {
    OperationDoc::new("get-api-keys", sections::IDENTITY, "List keys")
        .description(
            "The keys of all users without their secrets, newest first. The list includes expired and revoked keys.",
        )
        .returns::<ApiKeyList>(200, "One page of the list.", list_example())
}

pub(crate) async fn handle(
    State(store): State<Store>,
    Caller(principal): Caller,
    Query(Request { user, page }): Query<Request>,
) -> Result<Json<ApiKeyList>, Error> {
    let account = match user {
        None => None,
        Some(user) => match store.access().get_user(&principal.organization, &user).await? {
            Some(found) => Some(found.account),
            // Keys go with their user.
            None => return Ok(Json(ApiKeyList { api_keys: Vec::new(), has_more: false, continuation_token: None })),
        },
    };
    let found = store.access().list_api_keys(&principal.organization, account.as_ref(), page).await?;
    Ok(Json(ApiKeyList::new(found, ApiKey::from)))
}

impl FromQuery for Request {
    fn from_query(query: &mut QueryParameters) -> Self {
        Self {
            user: query.read_one("user_id", "Only keys of this user.", &USER_ID),
            page: query.read_page(1..=100, 100),
        }
    }
}
