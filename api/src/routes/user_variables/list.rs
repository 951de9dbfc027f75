//! `GET /v1/{organization}/user/{user_id}/variable` and `…/user/me/variable`: the variables of a user, by name.

use api_kit::caller::Caller;
use api_kit::error::Error;
use api_kit::extract::InPath;
use api_kit::openapi::OperationDoc;
use axum::Json;
use axum::extract::State;
use registry::{AccountId, OrganizationId, Store, UserId};
use serde_json::json;

use crate::routes::user_variables::find_account;
use crate::sections;
use crate::wire::{UserVariable, UserVariableList};

pub(crate) fn operation() -> OperationDoc {
    describe_operation(OperationDoc::new("get-user-variables", sections::IDENTITY, "List the variables of a user"))
}

pub(crate) fn own_operation() -> OperationDoc {
    describe_operation(OperationDoc::new("get-own-variables", sections::IDENTITY, "List the variables of the caller"))
}

fn describe_operation(operation: OperationDoc) -> OperationDoc {
    let example = json!({"variables": [
        {"name": "customer_id", "is_sensitive": false, "value": "8812", "updated_by": "ann", "updated_at": "2026-11-25T12:00:00.000Z"},
        {"name": "pin", "is_sensitive": true, "value": null, "updated_by": "ann", "updated_at": "2026-11-25T12:00:00.000Z"},
    ]});
    operation
        .description(
            "The variables, by name. Every run of the user receives them in `user_variables`, apart from those whose names \
            the caller sends. The values of sensitive variables are not shown.",
        )
        .returns::<UserVariableList>(200, "The variables.", example)
}

pub(crate) async fn handle(
    State(store): State<Store>,
    Caller(principal): Caller,
    InPath(user): InPath<UserId>,
) -> Result<Json<UserVariableList>, Error> {
    let account = find_account(&store, &principal, &user).await?;
    list(&store, &principal.organization, &account).await
}

pub(crate) async fn handle_own(
    State(store): State<Store>,
    Caller(principal): Caller,
) -> Result<Json<UserVariableList>, Error> {
    list(&store, &principal.organization, &principal.account).await
}

async fn list(
    store: &Store,
    organization: &OrganizationId,
    account: &AccountId,
) -> Result<Json<UserVariableList>, Error> {
    let variables = store.access().list_user_variables(organization, account).await?;
    Ok(Json(UserVariableList { variables: variables.into_iter().map(UserVariable::from).collect() }))
}
