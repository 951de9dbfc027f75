//! `GET /v1/{organization}/history_hold`: all holds, newest first, in pages.

use api_kit::caller::Caller;
use api_kit::error::Error;
use api_kit::extract::{FromQuery, Query, QueryParameters};
use api_kit::openapi::OperationDoc;
use axum::Json;
use axum::extract::State;
use registry::{Page, Store};
use serde_json::json;

use crate::sections;
use crate::wire::{Hold, HoldList, hold_example};

pub(crate) struct Request(Page);

pub(crate) fn operation() -> OperationDoc {
    let example = json!({"holds": [hold_example()], "has_more": false, "continuation_token": null});
    OperationDoc::new("get-history-holds", sections::HISTORY, "List legal holds")
        .description("The legal holds of the organisation, newest first. The list includes released holds.")
        .returns::<HoldList>(200, "One page of the list.", example)
        .errors(503, &["query_too_slow"])
}

pub(crate) async fn handle(
    State(store): State<Store>,
    Caller(principal): Caller,
    Query(Request(page)): Query<Request>,
) -> Result<Json<HoldList>, Error> {
    let found = store.history().list_holds(&principal.organization, page).await?;
    Ok(Json(HoldList::new(found, Hold::from)))
}

impl FromQuery for Request {
    fn from_query(query: &mut QueryParameters) -> Self {
        Self(query.read_page(1..=100, 100))
    }
}
