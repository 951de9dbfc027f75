//! `GET /v1/{organization}/api_key`: keys of all users, or with `user_id` of one, the youngest first.

use axum::Json;
use axum::extract::State;
use registry::{Page, UserId};

use super::wire::{self, ApiKeys};
use crate::app::App;
use crate::auth::Caller;
use crate::error::Error;
use crate::extract::{Field, FromQuery, Parameters, Query};
use crate::openapi::{Operation, Tag};
use crate::routes::names::user_id_form;

const USER_ID: Field = Field::new("user_id", "Only keys of this user.", user_id_form);

pub(crate) struct Request {
    user: Option<UserId>,
    page: Page,
}

pub(crate) fn operation() -> Operation {
    Operation::new("get-api-keys", Tag::Identity, "List keys")
        .says("Keys of all users without their secrets, the youngest first. Keys that have ended are listed, too.")
        .answers::<ApiKeys>(200, "One page of the list.", wire::list_example())
}

pub(crate) async fn handle(
    State(app): State<App>,
    Caller(principal): Caller,
    Query(Request { user, page }): Query<Request>,
) -> Result<Json<ApiKeys>, Error> {
    Ok(Json(app.store().list_api_keys(&principal.organization, user.as_ref(), page).await?.into()))
}

impl FromQuery for Request {
    fn from_query(query: &mut Parameters) -> Self {
        Self { user: query.one(&USER_ID, UserId::parse), page: query.page(1..=100, 100) }
    }
}
