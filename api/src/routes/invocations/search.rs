//! `GET /v1/{organization}/tool/invocation/search`: searches runs by the words of their results.

use axum::extract::State;
use registry::{InvocationFilter, SEARCH_CHARACTERS_MAX, SearchField, SearchQuery, SearchText, Store};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;

use super::{filter, page};
use crate::auth::Caller;
use crate::error::Error;
use crate::extract::{FromQuery, OneOf, Query, QueryParameters, Text};
use crate::openapi::{OperationDoc, Tag};
use crate::wire::{ToolInvocation, run_example};
use crate::work::FinalResponse;

const FIELD: OneOf<SearchField> = OneOf(&[
    ("invocation_status.output", SearchField::Output),
    ("invocation_status.exception_message", SearchField::ExceptionMessage),
    ("invocation_status.exception_type", SearchField::ExceptionType),
    ("invocation_status.exception_stack_trace", SearchField::ExceptionStackTrace),
]);

const QUERY_DESCRIPTION: &str = "At most 32 words. A run must have all of them. There is no query syntax.";

const QUERY: Text<SearchText> = Text::new(
    || json!({"type": "string", "maxLength": SEARCH_CHARACTERS_MAX, "x-parsed": "search"}),
    |text| SearchText::parse(text).map_err(|error| error.to_string()),
);

pub(crate) struct Request {
    search: SearchQuery,
    filter: InvocationFilter,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "InvocationSearch")]
pub(crate) struct Response {
    tool_invocations: Vec<ToolInvocation>,
}

pub(crate) fn operation() -> OperationDoc {
    OperationDoc::new("search-tool-invocations", Tag::History, "Search runs")
        .description(
            "Searches the outputs and the exceptions of runs. The response has at most 100 runs, or about 8 MiB, latest \
            end first.",
        )
        .returns::<Response>(200, "The matching runs.", json!({"tool_invocations": [run_example()]}))
        .errors(503, &["query_too_slow"])
}

pub(crate) async fn handle(
    State(store): State<Store>,
    Caller(principal): Caller,
    Query(Request { search, filter }): Query<Request>,
) -> Result<FinalResponse, Error> {
    let found = store.search_invocations(&principal.organization, &search, &filter).await?;
    page::answer(found, |tool_invocations| Response { tool_invocations }).await
}

impl FromQuery for Request {
    fn from_query(query: &mut QueryParameters) -> Self {
        let text = query.one_required("query", QUERY_DESCRIPTION, &QUERY).unwrap_or_default();
        let fields = query.distinct_required("query_against", "The fields to search, as one text.", &FIELD);
        Self { search: SearchQuery { text, fields }, filter: filter::read(query) }
    }
}
