//! One line of the route table.

use axum::handler::Handler;
use axum::routing::{self, MethodRouter};
use registry::Permission;

use crate::app::App;
use crate::openapi::{Inputs, OperationDoc, RouteDoc, Signature};

/// One operation of the API.
#[derive(Clone)]
pub struct Route {
    pub method: &'static str,
    pub path: &'static str,
    /// The permission that the caller needs; `None` only for public routes.
    pub permission: Option<Permission>,
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

    /// The route as the OpenAPI document shows it.
    pub(super) const fn doc(&self) -> RouteDoc<'_> {
        let Self { method, path, permission, inputs, operation, .. } = self;
        RouteDoc { method, path, permission: *permission, inputs, operation: operation.as_ref() }
    }
}

pub(super) fn get<H: Handler<T, App>, T: Signature + 'static>(
    path: &'static str,
    permission: Option<Permission>,
    handler: H,
) -> Route {
    Route { method: "GET", path, permission, handler: routing::get(handler), inputs: T::inputs(), operation: None }
}

pub(super) fn post<H: Handler<T, App>, T: Signature + 'static>(
    path: &'static str,
    permission: Option<Permission>,
    handler: H,
) -> Route {
    Route { method: "POST", path, permission, handler: routing::post(handler), inputs: T::inputs(), operation: None }
}

pub(super) fn delete<H: Handler<T, App>, T: Signature + 'static>(
    path: &'static str,
    permission: Option<Permission>,
    handler: H,
) -> Route {
    let handler = routing::delete(handler);
    Route { method: "DELETE", path, permission, handler, inputs: T::inputs(), operation: None }
}
