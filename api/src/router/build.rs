//! Builds the router from the route table: checks the table, then adds the middleware of all routes and of each route.

use std::collections::HashSet;
use std::sync::Arc;

use api_kit::auth::{Bearers, Guard, OrganizationSource};
use api_kit::error::Error;
use api_kit::event_lines::escape_lines;
use api_kit::openapi::{self, OperationDoc};
use api_kit::public_url::PublicBase;
use api_kit::request_log::log_request;
use axum::Router;
use axum::extract::FromRef;
use axum::middleware::{from_fn, from_fn_with_state, map_response};
use mcp::add_challenge;

use super::bounds;
use super::public::{PROBES, PUBLIC};
use super::route::Route;
use super::route_guard::{RouteGuard, guard_route};
use crate::app::App;
use crate::routes::git;
use crate::tool_routes::add_envelope;

/// Why the route table cannot be served.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RouteRefused {
    #[error("{method} {path} has no permission and is not public")]
    NoPermission { method: &'static str, path: &'static str },
    #[error("{method} {path} has a permission, but no organization to check it in")]
    NoOrganization { method: &'static str, path: &'static str },
    #[error("{method} {path} is listed twice")]
    Twice { method: &'static str, path: &'static str },
    #[error("bounds are missing: {what}")]
    Unbounded { what: String },
    #[error("{method} {path} cannot be documented: {what}")]
    Undocumented { method: &'static str, path: &'static str, what: String },
}

/// Builds the router of the whole API.
pub(super) fn assemble(app: App, table: Vec<Route>) -> Result<Router, RouteRefused> {
    check(&table)?;
    if let Some(what) = bounds::find_problem(&table) {
        return Err(RouteRefused::Unbounded { what });
    }
    let public = PublicBase::from_ref(&app);
    let mut router = Router::new();
    for route in table {
        let guard = route.permission.map(|permission| Guard::new(app.store().clone(), permission, route.path));
        let guard = guard.map(|guard| guard.accepting(route.bearers, public.clone()).with_key_limit(app.key_limit()));
        let (has_envelopes, response) = (route.has_envelopes(), route.bounds().map(|bounds| bounds.response));
        let limit =
            route.operation.as_ref().map(OperationDoc::id).and_then(|operation| app.limits().find_limit(operation));
        let requests = (!PROBES.contains(&route.path)).then(|| app.requests().clone());
        let body = (app.bodies().clone(), route.body);
        let guards = Arc::new(RouteGuard { guard, requests, limit, body, response });
        let handler = route.handler.route_layer(from_fn_with_state(guards, guard_route));
        let handler = match route.bearers {
            Bearers::OfMcpClients => handler.route_layer(from_fn_with_state(public.clone(), add_challenge)),
            Bearers::OfUsers => handler,
        };
        let handler = if route.path.contains(git::REPOSITORIES) {
            handler.route_layer(from_fn(git::rewrite_refusal))
        } else {
            handler
        };
        let handler = if has_envelopes { handler.route_layer(from_fn(add_envelope)) } else { handler };
        if !route.path.contains("{*") && route.path != "/" {
            router = router.route(&format!("{}/", route.path), handler.clone());
        }
        router = router.route(route.path, handler);
    }
    Ok(router
        .fallback(async || Error::NotFound)
        .method_not_allowed_fallback(async || Error::MethodNotAllowed)
        .layer(map_response(escape_lines))
        .layer(from_fn_with_state(app.request_ids().clone(), log_request))
        .with_state(app))
}

fn check(table: &[Route]) -> Result<(), RouteRefused> {
    let mut seen = HashSet::new();
    for Route { method, path, permission, .. } in table {
        let (method, path) = (*method, *path);
        if permission.is_none() && !PUBLIC.contains(&(method, path)) {
            return Err(RouteRefused::NoPermission { method, path });
        }
        if permission.is_some() && OrganizationSource::of(path).is_none() {
            return Err(RouteRefused::NoOrganization { method, path });
        }
        if !seen.insert((method, path)) {
            return Err(RouteRefused::Twice { method, path });
        }
    }
    match openapi::find_problem(&table.iter().map(Route::doc).collect::<Vec<_>>()) {
        Some((method, path, what)) => Err(RouteRefused::Undocumented { method, path, what }),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use api_kit::openapi::OperationDoc;
    use registry::Permission::GetTool;

    use super::{RouteRefused, check};
    use crate::router::route::get;
    use crate::sections;

    async fn handler() {}

    #[test]
    fn a_route_without_permission_stops_the_start() {
        let path = "/v1/{organization}/tool/secrets";
        let refused = check(&[get(path, None, handler)]);
        assert_eq!(refused, Err(RouteRefused::NoPermission { method: "GET", path }));
    }

    #[test]
    fn a_permission_that_cannot_be_checked_stops_the_start() {
        let refused = check(&[get("/metrics", Some(GetTool), handler)]);
        assert_eq!(refused, Err(RouteRefused::NoOrganization { method: "GET", path: "/metrics" }));
    }

    #[test]
    fn a_route_listed_twice_stops_the_start() {
        let path = "/v1/{organization}/tool/x";
        let refused = check(&[get(path, Some(GetTool), handler), get(path, Some(GetTool), handler)]);
        assert_eq!(refused, Err(RouteRefused::Twice { method: "GET", path }));
    }

    #[test]
    fn a_route_without_a_description_stops_the_start_and_names_the_fix() {
        let refused = check(&[get("/v1/{organization}/build", Some(GetTool), handler)]).unwrap_err().to_string();
        for word in ["GET /v1/{organization}/build", "OperationDoc::new(\"get-build\"", ".described(module::operation)"]
        {
            assert!(refused.contains(word), "{word} is missing in: {refused}");
        }
    }

    #[test]
    fn a_parameter_of_the_path_that_the_handler_does_not_take_stops_the_start() {
        let route = get("/v1/{organization}/tool/{tool_id}", Some(GetTool), handler).described(describe_operation);
        let refused = check(&[route]).unwrap_err().to_string();
        assert!(refused.contains("tool_id is not both in its path and among the parameters"), "{refused}");
    }

    #[test]
    fn two_operations_with_one_id_stop_the_start() {
        let route = |path| get(path, Some(GetTool), handler).described(describe_operation);
        let refused = check(&[route("/v1/{organization}/a"), route("/v1/{organization}/b")]).unwrap_err().to_string();
        assert!(refused.contains("another operation has the id test"), "{refused}");
    }

    fn describe_operation() -> OperationDoc {
        OperationDoc::new("test", sections::SERVICE, "A test").description("Nothing.").returns_nothing(204, "Nothing.")
    }
}
