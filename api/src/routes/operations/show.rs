//! `GET /v1/{organization}/operation/{operation_id}`: the state and the response of an operation.
//!
//! The user who started the operation may see it. So may users who see its result elsewhere: runs in the history,
//! versions with their tool. For all others it does not exist.

use api_kit::caller::Caller;
use api_kit::error::Error;
use api_kit::extract::InPath;
use api_kit::openapi::OperationDoc;
use api_kit::request_id::RequestId;
use axum::Json;
use axum::extract::State;
use registry::{OperationId, OperationKind, Permission, Principal, Store, TrackedOperation};

use crate::sections;
use crate::wire::{Operation, operation_example};
use crate::work::OperationReader;

pub(crate) fn operation() -> OperationDoc {
    OperationDoc::new("get-operation", sections::RUNS, "Show an operation")
        .description(
            "The state of an asynchronous operation or of a request with an idempotency key, and its response after its \
            end. The user who started the operation may see it. So may users with `Tool:GetInvocation` for the tool of an \
            invocation, and users with `Tool:GetTool` for the tool of a publication. For all others it does not exist. The \
            server keeps it for a day, unless the operator configured another time.",
        )
        .returns::<Operation>(200, "The operation.", operation_example())
}

pub(crate) async fn handle(
    State(store): State<Store>,
    Caller(principal): Caller,
    request: RequestId,
    InPath(operation): InPath<OperationId>,
) -> Result<Json<Operation>, Error> {
    let organization = &principal.organization;
    let found = store.operations().get_operation(organization, &operation).await?.ok_or(Error::NotFound)?;
    if !may_see(&store, &principal, &found).await? {
        return Err(Error::NotFound);
    }
    let reader = OperationReader { store: &store, organization, request: &request };
    Ok(Json(reader.read_instance(found).await?))
}

async fn may_see(store: &Store, principal: &Principal, operation: &TrackedOperation) -> Result<bool, Error> {
    if operation.account == principal.account {
        return Ok(true);
    }
    let permission = find_permission(operation.kind);
    if !principal.may_for_some(permission) {
        return Ok(false);
    }
    let tool = store.tools().get_tool(&principal.organization, &operation.tool).await?;
    Ok(tool.map_or_else(|| principal.may(permission), |tool| principal.may_for(permission, &tool)))
}

/// The permission of the route that shows the same result.
const fn find_permission(kind: OperationKind) -> Permission {
    match kind {
        OperationKind::Invoke => Permission::GetInvocation,
        OperationKind::Publish => Permission::GetTool,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::router::list_routes;

    #[test]
    fn the_permission_is_that_of_the_route_that_shows_the_same() {
        for (kind, path) in [
            (OperationKind::Invoke, "/v1/{organization}/tool/invocation/{invocation_id}"),
            (OperationKind::Publish, "/v1/{organization}/tool/{tool_id}/version/{version}"),
        ] {
            let route = list_routes().into_iter().find(|route| route.method == "GET" && route.path == path);
            assert_eq!(route.and_then(|route| route.permission), Some(find_permission(kind)), "{path}");
        }
    }
}
