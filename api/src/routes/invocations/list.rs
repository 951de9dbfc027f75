//! `GET /v1/{organization}/tool/invocation`: the history by filter, newest first unless sorted otherwise.

use axum::extract::State;
use registry::{Constraint, InvocationFilter, InvocationSort, Page, Slice};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;

use super::wire::{self, ToolInvocationInstance};
use super::{filter, page};
use crate::app::App;
use crate::auth::Caller;
use crate::error::Error;
use crate::extract::{Field, FromQuery, Parameters, Query};
use crate::openapi::{Operation, Tag};
use crate::routes::names::constraint_form;
use crate::routes::sorting::{sort_form, sort_key};
use crate::work::Answer;

const SORT_FIELDS: [(&str, InvocationSort); 3] = [
    ("created_at", InvocationSort::CreatedAt),
    ("duration_ms", InvocationSort::DurationMs),
    ("invocation_status.succeeded", InvocationSort::Succeeded),
];

const VERSION: Field = Field::new(
    "version",
    "A PEP 440 constraint for the tool at the same position of `tool_id`; as many as tools, or none.",
    constraint_form,
);
const SORT_BY: Field =
    Field::new("sort_by", "`-duration_ms`, `+created_at` and so on, the first one first.", || sort_form(&SORT_FIELDS));

pub(crate) struct Request {
    filter: InvocationFilter,
    versions: Vec<Constraint>,
    page: Page,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "InvocationList")]
pub(crate) struct Response {
    tool_invocations: Vec<ToolInvocationInstance>,
    has_more: bool,
    continuation_token: Option<u64>,
}

pub(crate) fn operation() -> Operation {
    let example = json!({"tool_invocations": [wire::example()], "has_more": false, "continuation_token": null});
    Operation::new("get-tool-invocations", Tag::History, "List runs")
        .says(
            "Runs that have ended, the newest first unless `sort_by` says otherwise. A page of large records ends \
            after 8 MiB, whatever the limit.",
        )
        .answers::<Response>(200, "One page of the list.", example)
        .refuses(400, &["version_without_tool"])
        .refuses(503, &["query_too_slow"])
}

pub(crate) async fn handle(
    State(app): State<App>,
    Caller(principal): Caller,
    Query(Request { mut filter, versions, page }): Query<Request>,
) -> Result<Answer, Error> {
    filter::pair(&mut filter, versions)?;
    let Slice { items, next } = app.store().list_invocations(&principal.organization, &filter, page).await?;
    let around =
        move |tool_invocations| Response { tool_invocations, has_more: next.is_some(), continuation_token: next };
    page::answer(items, around).await
}

impl FromQuery for Request {
    fn from_query(query: &mut Parameters) -> Self {
        let mut filter = filter::read(query);
        filter.sort = query.many(&SORT_BY, |text| sort_key(text, &SORT_FIELDS));
        Self { filter, versions: query.many(&VERSION, Constraint::parse), page: query.page(0..=100, 100) }
    }
}
