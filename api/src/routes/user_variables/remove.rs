//! `DELETE /v1/{organization}/user/{user_id}/variable/{variable_name}` and `…/user/me/variable/{variable_name}`.

use api_kit::caller::Caller;
use api_kit::error::Error;
use api_kit::extract::InPath;
use api_kit::openapi::OperationDoc;
use axum::extract::State;
use axum::http::StatusCode;
use registry::{Store, UserId, UserVariableName};

use crate::routes::user_variables::find_account;
use crate::sections;

pub(crate) fn operation() -> OperationDoc {
    describe_operation(OperationDoc::new("remove-user-variable", sections::IDENTITY, "Remove a variable of a user"))
}

pub(crate) fn own_operation() -> OperationDoc {
    describe_operation(OperationDoc::new("remove-own-variable", sections::IDENTITY, "Remove a variable of the caller"))
}

fn describe_operation(operation: OperationDoc) -> OperationDoc {
    operation.description("Removes the variable, from the next call on.").returns_nothing(204, "Removed.")
}

pub(crate) async fn handle(
    State(store): State<Store>,
    Caller(principal): Caller,
    InPath(user): InPath<UserId>,
    InPath(name): InPath<UserVariableName>,
) -> Result<StatusCode, Error> {
    let account = find_account(&store, &principal, &user).await?;
    store.access().remove_user_variable(&principal.organization, &account, &name).await?;
    Ok(StatusCode::NO_CONTENT)
}

pub(crate) async fn handle_own(
    State(store): State<Store>,
    Caller(principal): Caller,
    InPath(name): InPath<UserVariableName>,
) -> Result<StatusCode, Error> {
    store.access().remove_user_variable(&principal.organization, &principal.account, &name).await?;
    Ok(StatusCode::NO_CONTENT)
}
