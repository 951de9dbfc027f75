//! `GET /v1/{organization}/user/me/api_key`: the caller's own keys, the youngest first.

use axum::Json;
use axum::extract::State;

use crate::app::App;
use crate::auth::Caller;
use crate::error::Error;
use crate::extract::Parameters;
use crate::routes::api_keys::wire::ApiKeys;

pub(crate) async fn handle(
    State(app): State<App>,
    Caller(principal): Caller,
    mut query: Parameters,
) -> Result<Json<ApiKeys>, Error> {
    let page = query.page(1..=100, 100);
    query.finish()?;
    Ok(Json(app.store().list_api_keys(&principal.organization, Some(&principal.user), page).await?.into()))
}
