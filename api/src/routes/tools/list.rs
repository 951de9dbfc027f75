//! `GET /v1/{organization}/tool`: lists tools, filtered and in pages.

use api_kit::caller::Caller;
use api_kit::error::Error;
use api_kit::extract::{FromQuery, PathParameter as _, Query, QueryParameters, Text};
use api_kit::openapi::OperationDoc;
use axum::Json;
use axum::extract::State;
use registry::{Page, Slice, Store, TagFilter, TagValue, ToolFilter, ToolId, ToolSort};
use serde_json::{Value, json};

use crate::routes::sorting::SortKey;
use crate::sections;
use crate::wire::{Tool, ToolFilterValues, ToolList};

const SORT_BY: SortKey<ToolSort> = SortKey(&[("name", ToolSort::Name), ("deprecated", ToolSort::Deprecated)]);

const TAG_DESCRIPTION: &str = "Only tools with all of these tags, as `key:value`. `*` means any value, and an empty text \
    after the colon means no value.";

/// The pattern requires a character that is neither a colon nor white space before the first colon.
const TAG: Text<TagFilter> =
    Text::new(|| json!({"type": "string", "pattern": r"^\s*[^:\s\u0000][^:\u0000]*:[^\u0000]*$"}), parse_tag);

pub(crate) struct Request {
    filter: ToolFilter,
    page: Page,
}

pub(crate) fn operation() -> OperationDoc {
    OperationDoc::new("get-tools", sections::TOOLS, "List tools")
        .description(
            "Lists the tools, newest first unless `sort_by` gives another order. The list includes deprecated tools.",
        )
        .returns::<ToolList>(200, "One page of the list.", example())
        .errors(503, &["query_too_slow"])
}

pub(crate) async fn handle(
    State(store): State<Store>,
    Caller(principal): Caller,
    Query(Request { filter, page }): Query<Request>,
) -> Result<Json<ToolList>, Error> {
    let organization = &principal.organization;
    let filter_values = match page.is_first() {
        true => Some(ToolFilterValues { tags: store.tools().tool_tag_keys(organization).await? }),
        false => None,
    };
    let Slice { items, next } = store.tools().list_tools(organization, &filter, page).await?;
    let tools = items.into_iter().map(Tool::from).collect();
    Ok(Json(ToolList { tools, has_more: next.is_some(), continuation_token: next, filter_values }))
}

impl FromQuery for Request {
    fn from_query(query: &mut QueryParameters) -> Self {
        let filter = ToolFilter {
            ids: query.read_distinct("id", "Only the tools with these ids.", &ToolId::decoder()),
            deprecated: query.read_boolean("deprecated", "Only deprecated tools, or only live tools."),
            tags: query.read_many("tag", TAG_DESCRIPTION, &TAG),
            sort: query.read_many(
                "sort_by",
                "`+name`, `-deprecated` and so on; the first key takes precedence.",
                &SORT_BY,
            ),
        };
        Self { filter, page: query.read_page(1..=20, 10) }
    }
}

/// Reads `key:value`, as [`TAG_DESCRIPTION`] says.
fn parse_tag(text: &str) -> Result<TagFilter, String> {
    let refused = || "should be key:value, key:* for any value, or key: for no value".to_owned();
    let (key, value) = text.split_once(':').ok_or_else(refused)?;
    let key = key.trim().to_owned();
    if key.is_empty() {
        return Err(refused());
    }
    let value = match value.trim() {
        "*" => TagValue::Any,
        "" => TagValue::Null,
        value => TagValue::Equals(value.to_owned()),
    };
    Ok(TagFilter { key, value })
}

fn example() -> Value {
    let user = json!({"org_id": "acme", "user_id": "ada"});
    json!({
        "tools": [{
            "id": "691f3b2a5c1e4d7f8a9b0c1d", "org_id": "acme", "name": "shout", "description": "Says it louder.",
            "created_at": "2026-11-20T09:32:05.000Z", "updated_at": "2026-11-20T09:40:11.000Z", "deprecated": false,
            "envvars": ["GREETING"], "secret_envvars": [], "tags": [{"key": "team", "value": "demo"}],
            "creator": user, "updated_by": user,
        }],
        "has_more": false, "continuation_token": null, "filter_values": {"tags": ["team"]},
    })
}
