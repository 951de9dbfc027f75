//! One line of the route table.

use axum::handler::Handler;
use axum::routing::{self, MethodRouter};
use registry::Permission;

use crate::app::App;
use crate::openapi::{Inputs, Operation, Signature};

/// One operation of the API.
#[derive(Clone)]
pub struct Route {
    pub method: &'static str,
    pub path: &'static str,
    /// What the caller needs; `None` only for public routes.
    pub permission: Option<Permission>,
    pub(super) handler: MethodRouter<App>,
    /// What the handler reads, by its parameters.
    pub(crate) inputs: Inputs,
    /// What it does, in words.
    pub(crate) operation: Option<Operation>,
}

impl Route {
    /// Adds the description that stands beside the handler.
    pub(super) fn described(mut self, operation: fn() -> Operation) -> Self {
        self.operation = Some(operation());
        self
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
    Route {
        method: "DELETE",
        path,
        permission,
        handler: routing::delete(handler),
        inputs: T::inputs(),
        operation: None,
    }
}
