//! `DELETE /v1/{organization}/user/{user_id}`: removes a user, with everything that acts for them or that they alone read.

use api_kit::caller::Caller;
use api_kit::error::Error;
use api_kit::extract::InPath;
use api_kit::openapi::OperationDoc;
use axum::extract::State;
use axum::http::StatusCode;
use registry::{Store, UserId};

use crate::sections;

pub(crate) fn operation() -> OperationDoc {
    OperationDoc::new("remove-user", sections::IDENTITY, "Remove a user")
        .description(
            "Removes the user with their keys, tokens, variables, authorisations of clients, runs of agents, and the items of \
            the Library that nobody else reads. Tools, versions, records, agents and shared items stay. The id is free for another \
            user, to whom nothing of the first one belongs.",
        )
        .returns_nothing(204, "Removed.")
        .errors(409, &["last_administrator"])
}

pub(crate) async fn handle(
    State(store): State<Store>,
    Caller(principal): Caller,
    InPath(user): InPath<UserId>,
) -> Result<StatusCode, Error> {
    store.access().remove_user(&principal.organization, &user).await?;
    Ok(StatusCode::NO_CONTENT)
}
