//! `POST /v1/{organization}/role/{role_name}`: replaces the grants of a custom role, from the next request of its users on.

use api_kit::caller::Caller;
use api_kit::error::Error;
use api_kit::extract::{Body, Fields, FromBody, InPath};
use api_kit::openapi::OperationDoc;
use axum::extract::State;
use axum::http::StatusCode;
use registry::{Grants, RoleName, Store};
use serde_json::{Value, json};

use super::grants::grants;
use crate::sections;
use crate::wire::grants_example;

pub(crate) struct Request(Grants);

pub(crate) fn operation() -> OperationDoc {
    OperationDoc::new("modify-role", sections::IDENTITY, "Change a role")
        .description("Replaces all grants of a custom role, from the next request of its users on.")
        .returns_nothing(204, "Changed.")
        .errors(400, &["role_built_in"])
        .errors(409, &["last_administrator"])
}

pub(crate) async fn handle(
    State(store): State<Store>,
    Caller(principal): Caller,
    InPath(role): InPath<RoleName>,
    Body(Request(grants)): Body<Request>,
) -> Result<StatusCode, Error> {
    store.access().modify_role(&principal.organization, &role, grants).await?;
    Ok(StatusCode::NO_CONTENT)
}

impl FromBody for Request {
    const NAME: &'static str = "ModifyRole";

    fn example() -> Value {
        json!({"grants": grants_example()})
    }

    fn read(fields: &mut Fields) -> Option<Self> {
        fields.read_required("grants", grants()).map(Self)
    }
}
