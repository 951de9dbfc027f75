//! One line of the route table.

use axum::handler::Handler;
use axum::routing::{self, MethodRouter};
use registry::Permission;

use crate::app::App;

/// One operation of the API.
#[derive(Clone)]
pub struct Route {
    pub method: &'static str,
    pub path: &'static str,
    /// What the caller needs; `None` only for public routes.
    pub permission: Option<Permission>,
    pub(super) handler: MethodRouter<App>,
}

pub(super) fn get<H: Handler<T, App>, T: 'static>(
    path: &'static str,
    permission: Option<Permission>,
    handler: H,
) -> Route {
    Route { method: "GET", path, permission, handler: routing::get(handler) }
}

pub(super) fn post<H: Handler<T, App>, T: 'static>(
    path: &'static str,
    permission: Option<Permission>,
    handler: H,
) -> Route {
    Route { method: "POST", path, permission, handler: routing::post(handler) }
}

pub(super) fn delete<H: Handler<T, App>, T: 'static>(
    path: &'static str,
    permission: Option<Permission>,
    handler: H,
) -> Route {
    Route { method: "DELETE", path, permission, handler: routing::delete(handler) }
}
