//! `GET /metrics` on a listener of its own, so that clients of the API cannot read the metrics.

use std::time::Duration;

use axum::Router;
use axum::http::header::CONTENT_TYPE;
use axum::middleware::map_response;
use axum::response::Response;
use axum::routing::get;
use registry::Clock;

use super::connection::ListenerContext;
use super::limits::ConnectionLimits;
use super::listener::Server;
use crate::error::Error;
use crate::request_id::RequestIds;
use crate::response_headers;

/// Connections of the metrics listener. A server has few scrapers.
const CONNECTIONS_MAX: usize = 16;

/// The text format of Prometheus.
const MEDIA_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

impl Server {
    /// Serves the text that `render` returns, and nothing else, until `shutdown` completes.
    pub async fn serve_metrics<R>(self, clock: &Clock, render: R, shutdown: impl Future<Output = ()>)
    where
        R: Fn() -> String + Clone + Send + Sync + 'static,
    {
        let metrics = get(move || {
            let text = render();
            async move { ([(CONTENT_TYPE, MEDIA_TYPE)], text) }
        });
        let router = Router::new()
            .route("/metrics", metrics)
            .fallback(async || Error::NotFound)
            .method_not_allowed_fallback(async || Error::MethodNotAllowed)
            .layer(map_response(add_headers));
        let limits = ConnectionLimits {
            connections_max: CONNECTIONS_MAX,
            connections_per_address_max: CONNECTIONS_MAX,
            ..ConnectionLimits::default()
        };
        let context = ListenerContext { router, limits, ids: RequestIds::new(clock) };
        // A scrape that is under way at the end is not waited for.
        let shutdown = async {
            shutdown.await;
            Duration::ZERO
        };
        drop(self.accept_until(context, shutdown).await);
    }
}

async fn add_headers(mut response: Response) -> Response {
    response_headers::add(response.headers_mut());
    response
}
