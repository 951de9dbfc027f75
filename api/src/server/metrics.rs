//! `GET /metrics` on a listener of its own, so that what is told to operators is not told to clients.

use axum::Router;
use axum::http::header::CONTENT_TYPE;
use axum::routing::get;
use registry::Clock;

use super::{ConnectionLimits, Hosting, Server, host};
use crate::error::Error;
use crate::request_id::RequestIds;

/// Scrapers are few.
const CONNECTIONS_MAX: usize = 16;

/// The text format of Prometheus.
const MEDIA_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

impl Server {
    /// Serves what `render` gives, and nothing else, until `shutdown` completes.
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
            .method_not_allowed_fallback(async || Error::MethodNotAllowed);
        let limits = ConnectionLimits {
            connections_max: CONNECTIONS_MAX,
            connections_per_address_max: CONNECTIONS_MAX,
            ..ConnectionLimits::default()
        };
        let hosting = Hosting { router, limits, ids: RequestIds::new(clock) };
        // A scrape that is under way may end by itself; nobody waits for it.
        drop(host(self.listener, hosting, shutdown).await);
    }
}
