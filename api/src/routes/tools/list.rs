//! `GET /v1/{organization}/tool`: tools by filter, page by page.

use axum::Json;
use axum::extract::State;
use registry::{Slice, TagFilter, TagValue, Tool, ToolFilter, ToolId, ToolSort};
use serde::Serialize;

use crate::app::App;
use crate::auth::Caller;
use crate::error::Error;
use crate::extract::Parameters;
use crate::routes::sorting::sort_key;

const SORT_FIELDS: [(&str, ToolSort); 2] = [("name", ToolSort::Name), ("deprecated", ToolSort::Deprecated)];

#[derive(Serialize)]
pub(crate) struct Response {
    tools: Vec<ToolInstance>,
    has_more: bool,
    continuation_token: Option<u64>,
    /// What can be filtered by; on the first page only.
    filter_values: Option<FilterValues>,
}

#[derive(Serialize)]
struct FilterValues {
    tags: Vec<String>,
}

#[derive(Serialize)]
struct ToolInstance {
    id: String,
    org_id: String,
    created_at: String,
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

#[derive(Serialize)]
struct Tag {
    key: String,
    value: Option<String>,
}

#[derive(Serialize)]
struct UserInfo {
    org_id: String,
    user_id: String,
}

pub(crate) async fn handle(
    State(app): State<App>,
    Caller(principal): Caller,
    mut query: Parameters,
) -> Result<Json<Response>, Error> {
    let filter = ToolFilter {
        ids: query.distinct("id", ToolId::parse),
        deprecated: query.boolean("deprecated"),
        tags: query.many("tag", tag),
        sort: query.many("sort_by", |text| sort_key(text, &SORT_FIELDS)),
    };
    let page = query.page(1..=20, 10);
    query.finish()?;
    let organization = &principal.organization;
    let filter_values = match page.is_first() {
        true => Some(FilterValues { tags: app.store().tool_tag_keys(organization).await? }),
        false => None,
    };
    let Slice { items, next } = app.store().list_tools(organization, &filter, page).await?;
    let tools = items.into_iter().map(ToolInstance::from).collect();
    Ok(Json(Response { tools, has_more: next.is_some(), continuation_token: next, filter_values }))
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
