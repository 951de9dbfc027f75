//! What every request of a route passes on its way to the handler, and its answer on the way back: the trail, the guard of
//! what is not public, the limit of its rate.
//!
//! No layers of axum's: each would copy what is inside it for every request.

use std::pin::Pin;
use std::sync::Arc;

use axum::extract::Request;
use axum::handler::Handler;
use axum::response::{IntoResponse, Response};

use super::Route;
use crate::app::App;
use crate::auth::Guard;
use crate::openapi::Operation;
use crate::rate::Limit;
use crate::trail;

/// A handler that has a request.
pub(crate) type Handling = Pin<Box<dyn Future<Output = Response> + Send>>;

/// A handler that has none yet.
pub(crate) type Handle = Box<dyn FnOnce(Request) -> Handling + Send>;

/// What stands before one handler.
pub(super) struct Door {
    app: App,
    route: &'static str,
    /// None of what is public.
    guard: Option<Guard>,
    limit: Option<Limit>,
}

impl Door {
    pub(super) fn new(app: &App, route: &Route) -> Self {
        let operation = route.operation.as_ref().map_or("", Operation::id);
        let guard = route.permission.map(|permission| Guard::new(app.clone(), permission, route.path));
        Self { app: app.clone(), route: route.path, guard, limit: Limit::of(app, operation) }
    }

    async fn pass(&self, request: Request, handle: Handle) -> Response {
        let answer = async |request| match &self.guard {
            Some(guard) => {
                let admitted = guard.admit(request).await;
                match admitted {
                    Ok(request) => self.within_limit(request, handle).await,
                    Err(refused) => refused.into_response(),
                }
            }
            None => self.within_limit(request, handle).await,
        };
        trail::follow(self.app.request_ids(), self.route.into(), request, answer).await
    }

    async fn within_limit(&self, request: Request, handle: Handle) -> Response {
        match &self.limit {
            Some(limit) => limit.admit(request, handle).await,
            None => handle(request).await,
        }
    }
}

/// A handler behind its door.
#[derive(Clone)]
pub(super) struct Behind<H> {
    door: Arc<Door>,
    handler: H,
}

impl<H> Behind<H> {
    pub(super) const fn new(door: Arc<Door>, handler: H) -> Self {
        Self { door, handler }
    }
}

impl<T, H: Handler<T, App, Future = Handling>> Handler<T, App> for Behind<H> {
    type Future = Handling;

    fn call(self, request: Request, app: App) -> Handling {
        let Self { door, handler } = self;
        let handle = Box::new(move |request| handler.call(request, app));
        Box::pin(async move { door.pass(request, handle).await })
    }
}
