//! One request and its response, from the first to the last byte; reported to the log, the metrics and the trace at the
//! end.
//!
//! The end is when the response's body is sent or dropped, so that the time of a stream is the time of the whole stream. A
//! client that goes away before it has a response leaves an exchange without a status.

use std::net::IpAddr;

use axum::extract::{MatchedPath, Request};
use axum::http::header::{HeaderMap, HeaderName};
use axum::http::{Method, StatusCode};
use tokio::time::Instant;
use tracing::Span;

use super::trace_context;
use crate::body_end::OnBodyEnd;
use crate::metrics::{self, EndedRequest};
use crate::request_id::RequestId;
use crate::request_identity::RequestIdentity;
use crate::server::Peer;

/// Header with the request id of a client or proxy.
const CLIENTS_ID: HeaderName = HeaderName::from_static("x-request-id");

/// Length of a client's request id in the log. Longer ids are not logged.
const CLIENTS_ID_BYTES_MAX: usize = 128;

/// The routes of probes.
const PROBES: [&str; 2] = ["/health/live", "/health/ready"];

pub(super) struct Exchange {
    id: RequestId,
    clients_id: Option<String>,
    method: &'static str,
    route: String,
    peer: Option<IpAddr>,
    identity: RequestIdentity,
    trace_id: Option<String>,
    span: Span,
    began: Instant,
    status: Option<StatusCode>,
    is_complete: bool,
}

impl Exchange {
    pub(super) fn begin(request: &Request, id: RequestId, identity: RequestIdentity) -> Self {
        let (method, route) = (label_method(request.method()), label_route(request));
        let request_id = id.as_str();
        let span = tracing::info_span!("request", request_id, method, route, otel.kind = "server");
        let trace_id = trace_context::join(&span, request.headers(), || format!("{method} {route}"));
        let clients_id = read_client_id(request.headers());
        let peer = Peer::of(request.extensions());
        metrics::record_request_begin();
        let (began, status, is_complete) = (Instant::now(), None, false);
        Self { id, clients_id, method, route, peer, identity, trace_id, span, began, status, is_complete }
    }

    pub(super) const fn span(&self) -> &Span {
        &self.span
    }

    /// Whether the request is a probe of a healthy server, which asks every few seconds.
    fn is_quiet_probe(&self) -> bool {
        PROBES.contains(&self.route.as_str()) && self.status.is_some_and(|status| status.is_success())
    }

    pub(super) const fn note_status(&mut self, status: StatusCode) {
        self.status = Some(status);
    }

    fn log(&self, duration_ms: u64) {
        if self.is_quiet_probe() {
            tracing::debug!(target: "api::access", parent: None, request_id = self.id.as_str(), route = self.route, duration_ms, "probe");
            return;
        }
        let (organization, user) = self.identity.get().map(|(organization, user)| (organization, user)).unzip();
        // Outside the span, whose fields would only repeat these.
        tracing::info!(
            target: "api::access",
            parent: None,
            request_id = self.id.as_str(),
            client_request_id = self.clients_id,
            trace_id = self.trace_id,
            method = self.method,
            route = self.route,
            status = self.status.map(|status| status.as_u16()),
            duration_ms,
            organization = organization.map(tracing::field::display),
            user = user.map(tracing::field::display),
            tool = self.identity.tool().map(tracing::field::display),
            runs = self.identity.runs(),
            failed_runs = self.identity.failed_runs(),
            peer = self.peer.map(tracing::field::display),
            cut_off = (!self.is_complete).then_some(true),
            "request"
        );
    }
}

impl OnBodyEnd for Exchange {
    fn on_body_end(mut self, is_complete: bool) {
        self.is_complete = is_complete;
    }
}

impl Drop for Exchange {
    fn drop(&mut self) {
        let duration = self.began.elapsed();
        self.log(u64::try_from(duration.as_millis()).unwrap_or(u64::MAX));
        let (method, route, status) = (self.method, std::mem::take(&mut self.route), self.status);
        metrics::record_request_end(EndedRequest { method, route, status, duration });
        trace_context::close(&self.span, self.status, self.identity.get());
    }
}

/// The route as the route table has it, one for both slash forms. All paths without a route have one label.
fn label_route(request: &Request) -> String {
    let path = request.extensions().get::<MatchedPath>().map(MatchedPath::as_str);
    let route = path.map(|path| path.strip_suffix('/').filter(|path| !path.is_empty()).unwrap_or(path));
    route.unwrap_or("unmatched").to_owned()
}

/// Clients may invent methods, each of which would be a label.
fn label_method(method: &Method) -> &'static str {
    const KNOWN: [&str; 9] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "CONNECT", "TRACE"];
    KNOWN.iter().find(|known| **known == method.as_str()).copied().unwrap_or("other")
}

/// Returns the client's id if it can do no harm in a log.
fn read_client_id(headers: &HeaderMap) -> Option<String> {
    let text = headers.get(CLIENTS_ID)?.to_str().ok()?;
    let is_plain =
        |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b':' | b'=' | b'/' | b'+');
    let is_fit = !text.is_empty() && text.len() <= CLIENTS_ID_BYTES_MAX && text.bytes().all(is_plain);
    is_fit.then(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    #[test]
    fn a_harmless_id_of_a_client_is_logged() {
        let check = |text: &str, expect: bool| {
            let headers = HeaderMap::from_iter([(CLIENTS_ID, HeaderValue::from_str(text).unwrap())]);
            assert_eq!(read_client_id(&headers).is_some(), expect, "{text}");
        };
        check("8f6c-11_a", true);
        check("Root=1-67891233-abcdef012345678912345678", true);
        check("", false);
        check("a b", false);
        check("{\"level\":\"error\"}", false);
        check(&"x".repeat(129), false);
    }

    #[test]
    fn an_invented_method_has_the_label_other() {
        assert_eq!(label_method(&Method::DELETE), "DELETE");
        assert_eq!(label_method(&Method::from_bytes(b"BREW").unwrap()), "other");
    }
}
