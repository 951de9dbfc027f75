//! `GET /v1/{organization}/user/me/api_key`: the caller's keys, newest first.

use api_kit::caller::Caller;
use api_kit::error::Error;
use api_kit::extract::{FromQuery, Query, QueryParameters};
use api_kit::openapi::OperationDoc;
use axum::Json;
use axum::extract::State;
use registry::{Page, Store};

use crate::routes::api_keys::terms::list_example;
use crate::sections;
use crate::wire::{ApiKey, ApiKeyList};

pub(crate) struct Request(Page);

pub(crate) fn operation() -> OperationDoc {
    OperationDoc::new("get-own-api-keys", sections::IDENTITY, "List the keys of the caller")
        .description(
            "The caller's keys without their secrets, newest first. The list includes expired and revoked keys.",
        )
        .returns::<ApiKeyList>(200, "One page of the list.", list_example())
}

pub(crate) async fn handle(
    State(store): State<Store>,
    Caller(principal): Caller,
    Query(Request(page)): Query<Request>,
) -> Result<Json<ApiKeyList>, Error> {
    let found = store.access().list_api_keys(&principal.organization, Some(&principal.account), page).await?;
    Ok(Json(ApiKeyList::new(found, ApiKey::from)))
}

impl FromQuery for Request {
    fn from_query(query: &mut QueryParameters) -> Self {
        Self(query.read_page(1..=100, 100))
    }
}
