//! `GET /v1/{organization}/tool`: tools by filter, page by page.

use axum::Json;
use axum::extract::State;
use registry::{Page, Slice, TagFilter, TagValue, Tool, ToolFilter, ToolId, ToolSort};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use crate::app::App;
use crate::auth::Caller;
use crate::error::Error;
use crate::extract::{Field, FromQuery, Parameters, Query};
use crate::openapi::{Operation, Tag as Topic, form};
use crate::routes::sorting::{sort_form, sort_key};

const SORT_FIELDS: [(&str, ToolSort); 2] = [("name", ToolSort::Name), ("deprecated", ToolSort::Deprecated)];

const ID: Field = Field::set("id", "Only the tools with these ids.", form::object_id);
const TAG: Field = Field::new(
    "tag",
    "Only tools with all of these tags, as `key:value`; `*` is any value, and nothing after the colon is no value. A \
    key alone means any value, too.",
    tag_form,
);
const SORT_BY: Field =
    Field::new("sort_by", "`+name`, `-deprecated` and so on, the first one first.", || sort_form(&SORT_FIELDS));

pub(crate) struct Request {
    filter: ToolFilter,
    page: Page,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ToolList")]
pub(crate) struct Response {
    tools: Vec<ToolInstance>,
    has_more: bool,
    continuation_token: Option<u64>,
    /// What can be filtered by; on the first page only.
    filter_values: Option<FilterValues>,
}

/// What the organisation's tools can be filtered by.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ToolFilterValues")]
struct FilterValues {
    tags: Vec<String>,
}

/// A tool. Of its variables only the names are shown.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Tool")]
struct ToolInstance {
    id: String,
    org_id: String,
    #[schemars(extend("format" = "date-time"))]
    created_at: String,
    #[schemars(extend("format" = "date-time"))]
    updated_at: String,
    name: String,
    description: String,
    deprecated: bool,
    envvars: Vec<String>,
    secret_envvars: Vec<String>,
    tags: Vec<Tag>,
    creator: UserInfo,
    updated_by: UserInfo,
}

#[derive(Serialize, JsonSchema)]
struct Tag {
    key: String,
    value: Option<String>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ToolUser")]
struct UserInfo {
    org_id: String,
    user_id: String,
}

pub(crate) fn operation() -> Operation {
    Operation::new("get-tools", Topic::Tools, "List tools")
        .says("The newest first, unless `sort_by` says otherwise. Deprecated tools are listed, too.")
        .answers::<Response>(200, "One page of the list.", example())
        .refuses(503, &["query_too_slow"])
}

pub(crate) async fn handle(
    State(app): State<App>,
    Caller(principal): Caller,
    Query(Request { filter, page }): Query<Request>,
) -> Result<Json<Response>, Error> {
    let organization = &principal.organization;
    let filter_values = match page.is_first() {
        true => Some(FilterValues { tags: app.store().tool_tag_keys(organization).await? }),
        false => None,
    };
    let Slice { items, next } = app.store().list_tools(organization, &filter, page).await?;
    let tools = items.into_iter().map(ToolInstance::from).collect();
    Ok(Json(Response { tools, has_more: next.is_some(), continuation_token: next, filter_values }))
}

impl FromQuery for Request {
    fn from_query(query: &mut Parameters) -> Self {
        let filter = ToolFilter {
            ids: query.distinct(&ID, ToolId::parse),
            deprecated: query.boolean("deprecated", "Only deprecated tools, or only live ones."),
            tags: query.many(&TAG, tag),
            sort: query.many(&SORT_BY, |text| sort_key(text, &SORT_FIELDS)),
        };
        Self { filter, page: query.page(1..=20, 10) }
    }
}

/// The key has a character that is neither a colon nor white space, before any colon.
fn tag_form() -> Value {
    json!({"type": "string", "pattern": r"^\s*[^:\s]"})
}

/// `key:value`; `*` is any value, and nothing after the colon is no value. A key alone is any value, too.
fn tag(text: &str) -> Result<TagFilter, &'static str> {
    let (key, value) = text.split_once(':').unwrap_or((text, "*"));
    let key = key.trim().to_owned();
    if key.is_empty() {
        return Err("should be key:value");
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

impl From<Tool> for ToolInstance {
    fn from(tool: Tool) -> Self {
        let user = |user: registry::UserId| UserInfo { org_id: tool.organization.to_string(), user_id: user.into() };
        Self {
            creator: user(tool.creator),
            updated_by: user(tool.updated_by),
            id: tool.id.into(),
            org_id: tool.organization.to_string(),
            created_at: tool.created_at.to_string(),
            updated_at: tool.updated_at.to_string(),
            name: tool.name.into(),
            description: tool.description.into(),
            deprecated: tool.deprecated,
            envvars: tool.envvars.into_iter().map(String::from).collect(),
            secret_envvars: tool.secret_envvars.into_iter().map(String::from).collect(),
            tags: tool.tags.iter().map(|(key, value)| Tag { key: key.into(), value: value.map(Into::into) }).collect(),
        }
    }
}
