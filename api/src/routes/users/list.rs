//! `GET /v1/{organization}/user`: users with their roles, those who came first at the top.

use axum::Json;
use axum::extract::State;
use registry::Slice;
use serde::Serialize;

use super::wire::UserInstance;
use crate::app::App;
use crate::auth::Caller;
use crate::error::Error;
use crate::extract::Parameters;

#[derive(Serialize)]
pub(crate) struct Response {
    users: Vec<UserInstance>,
    has_more: bool,
    continuation_token: Option<u64>,
}

pub(crate) async fn handle(
    State(app): State<App>,
    Caller(principal): Caller,
    mut query: Parameters,
) -> Result<Json<Response>, Error> {
    let page = query.page(1..=100, 100);
    query.finish()?;
    let organization = &principal.organization;
    let Slice { items, next } = app.store().list_users(organization, page).await?;
    let users = items.into_iter().map(|user| UserInstance::new(organization, user)).collect();
    Ok(Json(Response { users, has_more: next.is_some(), continuation_token: next }))
}
