//! `GET /v1/{organization}/api_key`: keys of all users, or with `user_id` of one, the youngest first.

use axum::Json;
use axum::extract::State;
use registry::UserId;

use super::wire::ApiKeys;
use crate::app::App;
use crate::auth::Caller;
use crate::error::Error;
use crate::extract::Parameters;

pub(crate) async fn handle(
    State(app): State<App>,
    Caller(principal): Caller,
    mut query: Parameters,
) -> Result<Json<ApiKeys>, Error> {
    let user = query.one("user_id", UserId::parse);
    let page = query.page(1..=100, 100);
    query.finish()?;
    Ok(Json(app.store().list_api_keys(&principal.organization, user.as_ref(), page).await?.into()))
}
