//! `GET /v1/{organization}/user/me`: the caller and their permissions.

use api_kit::caller::Caller;
use api_kit::error::Error;
use api_kit::openapi::OperationDoc;
use axum::Json;
use axum::extract::State;
use registry::Store;
use serde_json::json;

use crate::sections;
use crate::wire::{Grant, Me};

pub(crate) fn operation() -> OperationDoc {
    let permissions = json!([{"permission": "Tool:InvokeTool", "conditions": []}]);
    let example = json!({"user_id": "ada", "org_id": "acme", "role": "invoker", "permissions": permissions});
    OperationDoc::new("get-me", sections::IDENTITY, "Show the caller")
        .description("The caller's id, organisation, role and permissions.")
        .returns::<Me>(200, "The caller.", example)
}

pub(crate) async fn handle(State(store): State<Store>, Caller(principal): Caller) -> Result<Json<Me>, Error> {
    // The user may have been removed after the check of the token.
    let user = store.access().get_user(&principal.organization, &principal.user()).await?;
    let user = user.filter(|user| user.account == principal.account).ok_or(Error::Unauthenticated)?;
    Ok(Json(Me {
        user_id: user.account.user().into(),
        org_id: principal.organization.into(),
        role: user.role.into(),
        permissions: Grant::list(&principal.grants),
    }))
}
