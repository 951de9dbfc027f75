//! `GET /v1/{organization}/tool/invocation`: lists runs, filtered and in pages, newest first by default.

use api_kit::caller::Caller;
use api_kit::error::Error;
use api_kit::extract::{FromQuery, Query, QueryParameters};
use api_kit::openapi::OperationDoc;
use api_kit::text_types::CONSTRAINT;
use axum::extract::State;
use registry::{Constraint, Page, RunFilter, RunSort, Store};
use serde_json::json;

use super::{filter, page};
use crate::routes::sorting::SortKey;
use crate::sections;
use crate::wire::{InvocationList, run_example};
use crate::work::FinalResponse;

const SORT_BY: SortKey<RunSort> = SortKey(&[
    ("created_at", RunSort::CreatedAt),
    ("duration_ms", RunSort::DurationMs),
    ("invocation_status.succeeded", RunSort::Succeeded),
    ("tool_id", RunSort::ToolId),
    ("version.major", RunSort::Major),
    ("version.minor", RunSort::Minor),
    ("version.patch", RunSort::Patch),
    ("invocation_source.type", RunSort::SourceType),
]);

const SORT_DESCRIPTION: &str = "`-duration_ms`, `+created_at` and so on; the first key takes precedence.";

const VERSION_DESCRIPTION: &str = "A PEP 440 constraint for the tool at the same position of `tool_id`. There must be as \
    many constraints as tools, or none.";

pub(crate) struct Request {
    filter: RunFilter,
    versions: Vec<Constraint>,
    page: Page,
}

pub(crate) fn operation() -> OperationDoc {
    let example = json!({"tool_invocations": [run_example()], "has_more": false, "continuation_token": null});
    OperationDoc::new("get-tool-invocations", sections::HISTORY, "List runs")
        .description(
            "Lists runs, newest first unless `sort_by` gives another order. A page of large records ends \
            after 8 MiB, whatever the limit.",
        )
        .returns::<InvocationList>(200, "One page of the list.", example)
        .errors(400, &["version_without_tool"])
        .errors(503, &["query_too_slow"])
}

pub(crate) async fn handle(
    State(store): State<Store>,
    Caller(principal): Caller,
    Query(Request { mut filter, versions, page }): Query<Request>,
) -> Result<FinalResponse, Error> {
    filter::pair_versions(&mut filter, versions)?;
    let found = store.history().list_invocations(&principal.organization, &filter, page).await?;
    page::answer(found).await
}

impl FromQuery for Request {
    fn from_query(query: &mut QueryParameters) -> Self {
        let mut filter = filter::read(query);
        filter.states = filter::read_states(query);
        filter.sort = query.read_many("sort_by", SORT_DESCRIPTION, &SORT_BY);
        Self {
            filter,
            versions: query.read_many("version", VERSION_DESCRIPTION, &CONSTRAINT),
            page: query.read_page(0..=100, 100),
        }
    }
}
