//! One line of the route table.

use std::sync::Arc;

use axum::handler::Handler;
use axum::routing::{self, MethodRouter};
use registry::Permission;

use super::door::{Behind, Door, Handling};
use crate::app::App;
use crate::openapi::{Inputs, Operation, Signature};

/// One operation of the API.
#[derive(Clone)]
pub struct Route {
    pub method: &'static str,
    pub path: &'static str,
    /// What the caller needs; `None` only for public routes.
    pub permission: Option<Permission>,
    /// Puts the handler behind its door.
    pub(super) behind: Arc<dyn Fn(Arc<Door>) -> MethodRouter<App>>,
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

pub(super) fn get<H: Handler<T, App, Future = Handling>, T: Signature + 'static>(
    path: &'static str,
    permission: Option<Permission>,
    handler: H,
) -> Route {
    let behind = Arc::new(move |door| routing::get(Behind::new(door, handler.clone())));
    Route { method: "GET", path, permission, behind, inputs: T::inputs(), operation: None }
}

pub(super) fn post<H: Handler<T, App, Future = Handling>, T: Signature + 'static>(
    path: &'static str,
    permission: Option<Permission>,
    handler: H,
) -> Route {
    let behind = Arc::new(move |door| routing::post(Behind::new(door, handler.clone())));
    Route { method: "POST", path, permission, behind, inputs: T::inputs(), operation: None }
}

pub(super) fn delete<H: Handler<T, App, Future = Handling>, T: Signature + 'static>(
    path: &'static str,
    permission: Option<Permission>,
    handler: H,
) -> Route {
    let behind = Arc::new(move |door| routing::delete(Behind::new(door, handler.clone())));
    Route { method: "DELETE", path, permission, behind, inputs: T::inputs(), operation: None }
}
