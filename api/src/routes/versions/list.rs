//! `GET /v1/{organization}/tool/{tool_id}/version`: the versions of a tool, page by page.

use axum::Json;
use axum::extract::State;
use registry::{
    Constraint, Creator, InvalidValue, OrganizationId, Page, Slice, ToolId, UserId, VersionFilter, VersionSort,
};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use super::wire::{self, ToolVersionInstance, UserInfo};
use crate::app::App;
use crate::auth::Caller;
use crate::error::Error;
use crate::extract::{Field, FromQuery, InPath, Parameters, Query};
use crate::openapi::{Operation, Tag};
use crate::routes::names::constraint_form;
use crate::routes::sorting::{sort_form, sort_key};

const SORT_FIELDS: [(&str, VersionSort); 5] = [
    ("created_at", VersionSort::CreatedAt),
    ("version.major", VersionSort::Major),
    ("version.minor", VersionSort::Minor),
    ("version.patch", VersionSort::Patch),
    ("deprecated", VersionSort::Deprecated),
];

const VERSIONS: Field = Field::new("versions", "Only versions that this PEP 440 constraint admits.", constraint_form);
const CREATOR: Field =
    Field::set("creator", "Only versions that these users published, as `organization,user` or `user`.", creator_form);
const SORT_BY: Field = Field::new("sort_by", "`-version.major`, `+created_at` and so on, the first one first.", || {
    sort_form(&SORT_FIELDS)
});

pub(crate) struct Request {
    filter: VersionFilter,
    page: Page,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ToolVersionList")]
pub(crate) struct Response {
    tool_versions: Vec<ToolVersionInstance>,
    has_more: bool,
    continuation_token: Option<u64>,
    /// What can be filtered by; on the first page only.
    filter_values: Option<FilterValues>,
}

/// What the tool's versions can be filtered by.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "VersionFilterValues")]
struct FilterValues {
    creators: Vec<UserInfo>,
}

pub(crate) fn operation() -> Operation {
    Operation::new("get-tool-versions", Tag::Versions, "List versions")
        .says("The newest first, unless `sort_by` says otherwise. Deprecated versions are listed, too.")
        .answers::<Response>(200, "One page of the list.", example())
        .refuses(503, &["query_too_slow"])
}

pub(crate) async fn handle(
    State(app): State<App>,
    Caller(principal): Caller,
    InPath(tool): InPath<ToolId>,
    Query(Request { filter, page }): Query<Request>,
) -> Result<Json<Response>, Error> {
    let organization = &principal.organization;
    app.store().get_tool(organization, &tool).await?.ok_or(Error::NotFound)?;
    let filter_values = match page.is_first() {
        true => Some(FilterValues { creators: creators(&app, &principal, &tool).await? }),
        false => None,
    };
    let Slice { items, next } = app.store().list_versions(organization, &tool, &filter, page).await?;
    let tool_versions = items.into_iter().map(ToolVersionInstance::from).collect();
    Ok(Json(Response { tool_versions, has_more: next.is_some(), continuation_token: next, filter_values }))
}

async fn creators(app: &App, principal: &registry::Principal, tool: &ToolId) -> Result<Vec<UserInfo>, Error> {
    let creators = app.store().version_creators(&principal.organization, tool).await?;
    Ok(creators.into_iter().map(|user| UserInfo::new(&principal.organization, user)).collect())
}

impl FromQuery for Request {
    fn from_query(query: &mut Parameters) -> Self {
        let filter = VersionFilter {
            deprecated: query.boolean("deprecated", "Only deprecated versions, or only live ones."),
            constraint: query.one(&VERSIONS, Constraint::parse),
            creators: query.distinct(&CREATOR, creator),
            sort: query.many(&SORT_BY, |text| sort_key(text, &SORT_FIELDS)),
        };
        Self { filter, page: query.page(0..=50, 50) }
    }
}

fn example() -> Value {
    let creators = json!([{"user_id": "ada", "user_org_id": "acme"}]);
    json!({
        "tool_versions": [wire::example()], "has_more": true, "continuation_token": 1,
        "filter_values": {"creators": creators},
    })
}

fn creator_form() -> Value {
    let id = r"\s*[A-Za-z0-9._@-]{1,128}\s*";
    json!({"type": "string", "pattern": format!("^({id},)?{id}$")})
}

/// `org_id,user_id`, or the user alone.
fn creator(text: &str) -> Result<Creator, InvalidValue> {
    let (organization, user) = match text.rsplit_once(',') {
        Some((organization, user)) => (Some(OrganizationId::parse(organization.trim())?), user),
        None => (None, text),
    };
    Ok(Creator { organization, user: UserId::parse(user.trim())? })
}
