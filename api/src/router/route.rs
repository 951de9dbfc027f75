//! One line of the route table.

use api_kit::auth::Bearers;
use api_kit::body_bounds::BodyBound;
use api_kit::openapi::{Inputs, OperationDoc, RouteDoc, Signature};
use axum::handler::Handler;
use axum::routing::{self, MethodRouter};
use registry::Permission;

use crate::app::App;
use crate::tool_routes::ToolOperation;

/// One operation of the API.
#[derive(Clone)]
pub struct Route {
    pub method: &'static str,
    pub path: &'static str,
    /// The permission that the caller needs; `None` only for public routes.
    pub permission: Option<Permission>,
    pub(super) bearers: Bearers,
    pub(super) body: BodyBound,
    pub(super) handler: MethodRouter<App>,
    /// The inputs of the handler, by its parameters.
    pub(crate) inputs: Inputs,
    /// The description of the operation.
    pub(crate) operation: Option<OperationDoc>,
}

impl Route {
    /// Adds the description that stands beside the handler.
    pub(super) fn described(mut self, operation: fn() -> OperationDoc) -> Self {
        self.operation = Some(operation());
        self
    }

    /// Accepts the bearers of MCP clients, and tells them where the resource is described.
    pub(super) fn accept_mcp_clients(mut self) -> Self {
        self.bearers = Bearers::OfMcpClients;
        self
    }

    /// Sets the bound of the bodies that the route reads.
    pub(super) fn reads(self, body: BodyBound) -> Self {
        Self { body, ..self }
    }

    /// Whether all responses have the form of a tool's result.
    pub(super) fn has_envelopes(&self) -> bool {
        self.operation.as_ref().is_some_and(OperationDoc::has_envelopes)
    }

    /// The route as the OpenAPI document shows it.
    pub(super) const fn doc(&self) -> RouteDoc<'_> {
        let Self { method, path, permission, inputs, operation, .. } = self;
        RouteDoc { method, path, permission: *permission, inputs, operation: operation.as_ref() }
    }
}

/// The route that a native tool declares.
impl From<ToolOperation> for Route {
    fn from(tool: ToolOperation) -> Self {
        let ToolOperation { method, path, permission, inputs, operation, handler } = tool;
        let route = build_route(method, path, Some(permission), handler, inputs);
        Self { operation: Some(operation), ..route.reads(BodyBound::Content) }
    }
}

pub(super) fn get<H: Handler<T, App>, T: Signature + 'static>(
    path: &'static str,
    permission: Option<Permission>,
    handler: H,
) -> Route {
    build_route("GET", path, permission, routing::get(handler), T::inputs())
}

pub(super) fn post<H: Handler<T, App>, T: Signature + 'static>(
    path: &'static str,
    permission: Option<Permission>,
    handler: H,
) -> Route {
    build_route("POST", path, permission, routing::post(handler), T::inputs())
}

pub(super) fn delete<H: Handler<T, App>, T: Signature + 'static>(
    path: &'static str,
    permission: Option<Permission>,
    handler: H,
) -> Route {
    build_route("DELETE", path, permission, routing::delete(handler), T::inputs())
}

fn build_route(
    method: &'static str,
    path: &'static str,
    permission: Option<Permission>,
    handler: MethodRouter<App>,
    inputs: Inputs,
) -> Route {
    let body = if permission.is_some() { BodyBound::Fields } else { BodyBound::Form };
    Route { method, path, permission, bearers: Bearers::OfUsers, body, handler, inputs, operation: None }
}
