//! `GET /v1/{organization}/tool/invocation/search`: searches runs by the words of their results.

use api_kit::caller::Caller;
use api_kit::error::Error;
use api_kit::extract::{FromQuery, OneOf, Query, QueryParameters, Text};
use api_kit::openapi::OperationDoc;
use axum::extract::State;
use registry::{Page, SEARCH_CHARACTERS_MAX, SearchField, SearchQuery, SearchText, Store};
use serde_json::json;

use super::{filter, page};
use crate::sections;
use crate::wire::{InvocationList, SEARCH_FIELDS, run_example};
use crate::work::FinalResponse;

/// Records of a page, at most, and without `limit`.
const LIMIT_MAX: u64 = 100;

const FIELD: OneOf<SearchField> = OneOf(&SEARCH_FIELDS);

const QUERY_DESCRIPTION: &str = "At most 32 words. A run must have all of them. A word with `*` at its end finds \
    the words that begin with it; there is no other syntax.";

const QUERY: Text<SearchText> = Text::new(
    || json!({"type": "string", "maxLength": SEARCH_CHARACTERS_MAX, "x-parsed": "search"}),
    |text| SearchText::parse(text).map_err(|error| error.to_string()),
);

pub(crate) struct Request {
    search: SearchQuery,
    page: Page,
}

pub(crate) fn operation() -> OperationDoc {
    let example = json!({"tool_invocations": [run_example()], "has_more": false, "continuation_token": null});
    OperationDoc::new("search-tool-invocations", sections::HISTORY, "Search runs")
        .description(
            "Searches the outputs, the exceptions and the inputs of runs that have ended, latest end first. A page of large \
            records ends after 8 MiB, whatever the limit.",
        )
        .returns::<InvocationList>(200, "One page of the matching runs.", example)
        .errors(503, &["query_too_slow"])
}

pub(crate) async fn handle(
    State(store): State<Store>,
    Caller(principal): Caller,
    Query(Request { search, page }): Query<Request>,
) -> Result<FinalResponse, Error> {
    let history = store.history();
    let found = history.search_invocations(&principal.organization, &search, page).await?;
    page::answer(found).await
}

impl FromQuery for Request {
    fn from_query(query: &mut QueryParameters) -> Self {
        let text = query.read_one_required("query", QUERY_DESCRIPTION, &QUERY).unwrap_or_default();
        let fields = query.read_distinct_required("query_against", "The fields to search, as one text.", &FIELD);
        let filter = filter::read(query);
        Self { search: SearchQuery { text, fields, filter }, page: query.read_page(1..=LIMIT_MAX, LIMIT_MAX) }
    }
}
