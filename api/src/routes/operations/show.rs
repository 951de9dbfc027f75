//! `GET /v1/{organization}/operation/{operation_id}`: whether it runs, and how it ended.
//!
//! Whoever began it may look at it, and so may whoever sees the same elsewhere: runs in the history, versions with
//! their tool. To all others it does not exist.

use axum::Json;
use axum::extract::State;
use registry::{OperationId, OperationKind, Permission, Principal, TrackedOperation};

use crate::app::App;
use crate::auth::Caller;
use crate::error::Error;
use crate::extract::InPath;
use crate::openapi::{Operation, Tag};
use crate::request_id::RequestId;
use crate::work::OperationInstance;

pub(crate) fn operation() -> Operation {
    Operation::new("get-operation", Tag::Runs, "Show an operation")
        .says(
            "Whether work runs that was to be answered later, or under an idempotency key, and how it ended. Whoever \
            began it may see it, and so may, of its tool, those with `Tool:GetInvocation` when it is a call, and those \
            with `Tool:GetTool` when it is a publication; to all others it does not exist. It is remembered for a day, \
            unless the server's operator chose another time.",
        )
        .answers::<OperationInstance>(200, "The operation.", OperationInstance::example())
}

pub(crate) async fn handle(
    State(app): State<App>,
    Caller(principal): Caller,
    request: RequestId,
    InPath(operation): InPath<OperationId>,
) -> Result<Json<OperationInstance>, Error> {
    let organization = &principal.organization;
    let found = app.store().get_operation(organization, &operation).await?.ok_or(Error::NotFound)?;
    if !may_see(&app, &principal, &found).await? {
        return Err(Error::NotFound);
    }
    Ok(Json(OperationInstance::of(&app, organization, found, &request).await?))
}

async fn may_see(app: &App, principal: &Principal, operation: &TrackedOperation) -> Result<bool, Error> {
    if operation.user == principal.user {
        return Ok(true);
    }
    let permission = permission(operation.kind);
    if !principal.may_for_some(permission) {
        return Ok(false);
    }
    let tool = app.store().get_tool(&principal.organization, &operation.tool).await?;
    Ok(tool.map_or_else(|| principal.may(permission), |tool| principal.may_for(permission, &tool)))
}

/// What the route asks for that shows the same.
const fn permission(kind: OperationKind) -> Permission {
    match kind {
        OperationKind::Invoke => Permission::GetInvocation,
        OperationKind::Publish => Permission::GetTool,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::router::routes;

    #[test]
    fn the_permission_is_that_of_the_route_that_shows_the_same() {
        for (kind, path) in [
            (OperationKind::Invoke, "/v1/{organization}/tool/invocation/{invocation_id}"),
            (OperationKind::Publish, "/v1/{organization}/tool/{tool_id}/version/{version}"),
        ] {
            let route = routes().into_iter().find(|route| route.method == "GET" && route.path == path);
            assert_eq!(route.and_then(|route| route.permission), Some(permission(kind)), "{path}");
        }
    }
}
