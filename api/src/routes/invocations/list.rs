//! `GET /v1/{organization}/tool/invocation`: the history by filter, newest first unless sorted otherwise.

use axum::Json;
use axum::extract::State;
use registry::{Constraint, InvocationSort, Slice};
use serde::Serialize;

use super::filter;
use super::wire::ToolInvocationInstance;
use crate::app::App;
use crate::auth::Caller;
use crate::error::Error;
use crate::extract::Parameters;
use crate::routes::sorting::sort_key;

const SORT_FIELDS: [(&str, InvocationSort); 3] = [
    ("created_at", InvocationSort::CreatedAt),
    ("duration_ms", InvocationSort::DurationMs),
    ("invocation_status.succeeded", InvocationSort::Succeeded),
];

#[derive(Serialize)]
pub(crate) struct Response {
    tool_invocations: Vec<ToolInvocationInstance>,
    has_more: bool,
    continuation_token: Option<u64>,
}

pub(crate) async fn handle(
    State(app): State<App>,
    Caller(principal): Caller,
    mut query: Parameters,
) -> Result<Json<Response>, Error> {
    let mut filter = filter::read(&mut query);
    filter.sort = query.many("sort_by", |text| sort_key(text, &SORT_FIELDS));
    let versions = query.many("version", Constraint::parse);
    let page = query.page(0..=100, 100);
    query.finish()?;
    filter::pair(&mut filter, versions)?;
    let Slice { items, next } = app.store().list_invocations(&principal.organization, &filter, page).await?;
    let tool_invocations = items.into_iter().map(ToolInvocationInstance::from).collect();
    Ok(Json(Response { tool_invocations, has_more: next.is_some(), continuation_token: next }))
}
