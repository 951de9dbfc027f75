//! `GET /v1/{organization}/user/me/api_key`: the caller's own keys, the youngest first.

use axum::Json;
use axum::extract::State;
use registry::Page;

use crate::app::App;
use crate::auth::Caller;
use crate::error::Error;
use crate::extract::{FromQuery, Parameters, Query};
use crate::openapi::{Operation, Tag};
use crate::routes::api_keys::wire::{self, ApiKeys};

pub(crate) struct Request(Page);

pub(crate) fn operation() -> Operation {
    Operation::new("get-own-api-keys", Tag::Identity, "List one's own keys")
        .says("The caller's keys without their secrets, the youngest first. Keys that have ended are listed, too.")
        .answers::<ApiKeys>(200, "One page of the list.", wire::list_example())
}

pub(crate) async fn handle(
    State(app): State<App>,
    Caller(principal): Caller,
    Query(Request(page)): Query<Request>,
) -> Result<Json<ApiKeys>, Error> {
    Ok(Json(app.store().list_api_keys(&principal.organization, Some(&principal.user), page).await?.into()))
}

impl FromQuery for Request {
    fn from_query(query: &mut Parameters) -> Self {
        Self(query.page(1..=100, 100))
    }
}
