//! `GET /v1/{organization}/tool/invocation/search`: runs whose texts have all the words of a query.

use axum::extract::State;
use registry::{InvocationFilter, SEARCH_CHARACTERS_MAX, SearchField, SearchQuery, SearchText};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use super::wire::{self, ToolInvocationInstance};
use super::{filter, page};
use crate::app::App;
use crate::auth::Caller;
use crate::error::Error;
use crate::extract::{Field, FromQuery, Parameters, Query};
use crate::openapi::{Operation, Tag, form};
use crate::work::Answer;

const FIELDS: [(&str, SearchField); 4] = [
    ("invocation_status.output", SearchField::Output),
    ("invocation_status.exception_message", SearchField::ExceptionMessage),
    ("invocation_status.exception_type", SearchField::ExceptionType),
    ("invocation_status.exception_stack_trace", SearchField::ExceptionStackTrace),
];

const QUERY: Field =
    Field::new("query", "At most 32 words, all of which a run must have. None of them is syntax.", text_form);
const AGAINST: Field = Field::set("query_against", "Where to look for the words, taken together.", field_form);

pub(crate) struct Request {
    search: SearchQuery,
    filter: InvocationFilter,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "InvocationSearch")]
pub(crate) struct Response {
    tool_invocations: Vec<ToolInvocationInstance>,
}

pub(crate) fn operation() -> Operation {
    Operation::new("search-tool-invocations", Tag::History, "Search runs")
        .says(
            "Full-text search over what runs answered or threw: at most 100 of them, or about 8 MiB, those that ended \
            last first.",
        )
        .answers::<Response>(200, "What was found.", json!({"tool_invocations": [wire::example()]}))
        .refuses(503, &["query_too_slow"])
}

pub(crate) async fn handle(
    State(app): State<App>,
    Caller(principal): Caller,
    Query(Request { search, filter }): Query<Request>,
) -> Result<Answer, Error> {
    let found = app.store().search_invocations(&principal.organization, &search, &filter).await?;
    page::answer(found, |tool_invocations| Response { tool_invocations }).await
}

impl FromQuery for Request {
    fn from_query(query: &mut Parameters) -> Self {
        let text = query.one_required(&QUERY, SearchText::parse).unwrap_or_default();
        let fields = query.distinct_required(&AGAINST, field);
        Self { search: SearchQuery { text, fields }, filter: filter::read(query) }
    }
}

fn text_form() -> Value {
    json!({"type": "string", "maxLength": SEARCH_CHARACTERS_MAX, "x-parsed": "search"})
}

fn field_form() -> Value {
    form::one_of(&FIELDS)
}

fn field(text: &str) -> Result<SearchField, String> {
    let found = FIELDS.iter().find(|(name, _)| *name == text).map(|(_, field)| *field);
    found.ok_or_else(|| format!("should be one of: {}", FIELDS.map(|(name, _)| name).join(", ")))
}
