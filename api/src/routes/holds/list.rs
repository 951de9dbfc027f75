//! `GET /v1/{organization}/history_hold`: all holds, newest first, in pages.

use axum::Json;
use axum::extract::State;
use registry::{Page, Store};
use serde_json::json;

use crate::caller::Caller;
use crate::error::Error;
use crate::extract::{FromQuery, Query, QueryParameters};
use crate::openapi::{OperationDoc, Tag};
use crate::wire::{Hold, HoldList, hold_example};

pub(crate) struct Request(Page);

pub(crate) fn operation() -> OperationDoc {
    let example = json!({"holds": [hold_example()], "has_more": false, "continuation_token": null});
    OperationDoc::new("get-history-holds", Tag::HISTORY, "List legal holds")
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
        Self(query.page(1..=100, 100))
    }
}
