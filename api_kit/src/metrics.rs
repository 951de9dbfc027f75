//! Metrics of the HTTP API, for a recorder of the `metrics` crate. The label of a route is its path in the route table,
//! never the path of a request.

use std::time::Duration;

use axum::http::StatusCode;
use metrics::{Unit, counter, describe_counter, describe_gauge, describe_histogram, gauge, histogram};

const REQUESTS: &str = "lathe_http_requests_total";
const REQUEST_SECONDS: &str = "lathe_http_request_duration_seconds";
const IN_FLIGHT: &str = "lathe_http_requests_in_flight";
const RATE_LIMITED: &str = "lathe_http_rate_limited_total";
const CONNECTIONS: &str = "lathe_http_connections";
const CONNECTIONS_ENDED: &str = "lathe_http_connections_cut_total";

/// Describes the metrics to the recorder.
pub fn describe() {
    describe_counter!(REQUESTS, "Requests by route, method and status; status 0 when the client left before");
    describe_histogram!(REQUEST_SECONDS, Unit::Seconds, "Time to the end of the response, by route and method");
    describe_gauge!(IN_FLIGHT, "Requests whose response is not sent yet");
    describe_counter!(RATE_LIMITED, "Requests beyond a rate limit, by operation");
    describe_gauge!(CONNECTIONS, "Connections of clients");
    describe_counter!(
        CONNECTIONS_ENDED,
        "Connections that the server ended early, by reason: full, evicted, slow_headers, slow_response"
    );
    // Counters are there before their first event, which a query for increases would miss otherwise.
    for reason in ["full", "evicted", "slow_headers", "slow_response"] {
        counter!(CONNECTIONS_ENDED, "reason" => reason).increment(0);
    }
}

pub fn record_request_begin() {
    gauge!(IN_FLIGHT).increment(1.0);
}

/// A request whose response was sent, or whose client disconnected before.
pub struct EndedRequest {
    pub method: &'static str,
    pub route: String,
    /// `None` when the client disconnected before the response.
    pub status: Option<StatusCode>,
    pub duration: Duration,
}

pub fn record_request_end(request: EndedRequest) {
    let EndedRequest { method, route, status, duration } = request;
    gauge!(IN_FLIGHT).decrement(1.0);
    let status = status.map_or_else(|| "0".to_owned(), |status| status.as_str().to_owned());
    counter!(REQUESTS, "route" => route.clone(), "method" => method, "status" => status).increment(1);
    histogram!(REQUEST_SECONDS, "route" => route, "method" => method).record(duration);
}

pub fn count_rate_limited(operation: &'static str) {
    counter!(RATE_LIMITED, "operation" => operation).increment(1);
}

/// Counts a connection for as long as the value lives.
pub struct Connection(());

impl Connection {
    pub fn begin() -> Self {
        gauge!(CONNECTIONS).increment(1.0);
        Self(())
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        gauge!(CONNECTIONS).decrement(1.0);
    }
}

pub fn count_connection_cut(reason: &'static str) {
    counter!(CONNECTIONS_ENDED, "reason" => reason).increment(1);
}
