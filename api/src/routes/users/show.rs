//! `GET /v1/{organization}/user/{user_id}`: one user.

use api_kit::caller::Caller;
use api_kit::error::Error;
use api_kit::extract::InPath;
use api_kit::openapi::OperationDoc;
use axum::Json;
use axum::extract::State;
use registry::{Store, UserId};

use crate::sections;
use crate::wire::User;

pub(crate) fn operation() -> OperationDoc {
    OperationDoc::new("get-user", sections::IDENTITY, "Show a user")
        .description("One user with their role.")
        .returns::<User>(200, "The user.", super::user_example())
}

pub(crate) async fn handle(
    State(store): State<Store>,
    Caller(principal): Caller,
    InPath(user): InPath<UserId>,
) -> Result<Json<User>, Error> {
    let found = store.access().get_user(&principal.organization, &user).await?.ok_or(Error::NotFound)?;
    Ok(Json(User::new(&principal.organization, found)))
}
