//! `GET /v1/{organization}/tool/{tool_id}/version`: the versions of a tool, page by page.

use axum::Json;
use axum::extract::State;
use registry::{Constraint, Creator, InvalidValue, OrganizationId, Slice, ToolId, UserId, VersionFilter, VersionSort};
use serde::Serialize;

use super::wire::{ToolVersionInstance, UserInfo};
use crate::app::App;
use crate::auth::Caller;
use crate::error::Error;
use crate::extract::{InPath, Parameters};
use crate::routes::sorting::sort_key;

const SORT_FIELDS: [(&str, VersionSort); 5] = [
    ("created_at", VersionSort::CreatedAt),
    ("version.major", VersionSort::Major),
    ("version.minor", VersionSort::Minor),
    ("version.patch", VersionSort::Patch),
    ("deprecated", VersionSort::Deprecated),
];

#[derive(Serialize)]
pub(crate) struct Response {
    tool_versions: Vec<ToolVersionInstance>,
    has_more: bool,
    continuation_token: Option<u64>,
    /// What can be filtered by; on the first page only.
    filter_values: Option<FilterValues>,
}

#[derive(Serialize)]
struct FilterValues {
    creators: Vec<UserInfo>,
}

pub(crate) async fn handle(
    State(app): State<App>,
    Caller(principal): Caller,
    InPath(tool): InPath<ToolId>,
    mut query: Parameters,
) -> Result<Json<Response>, Error> {
    let filter = VersionFilter {
        deprecated: query.boolean("deprecated"),
        constraint: query.one("versions", Constraint::parse),
        creators: query.distinct("creator", creator),
        sort: query.many("sort_by", |text| sort_key(text, &SORT_FIELDS)),
    };
    let page = query.page(0..=50, 50);
    query.finish()?;
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

/// `org_id,user_id`, or the user alone.
fn creator(text: &str) -> Result<Creator, InvalidValue> {
    let (organization, user) = match text.rsplit_once(',') {
        Some((organization, user)) => (Some(OrganizationId::parse(organization.trim())?), user),
        None => (None, text),
    };
    Ok(Creator { organization, user: UserId::parse(user.trim())? })
}
