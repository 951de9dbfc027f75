//! One request and its answer, from the first to the last byte; told to the log, the metrics and the trace at the end.
//!
//! The end is when the answer's body is sent or dropped, so that the time of a stream is the time of all of it. A
//! client that goes away before it has an answer leaves an exchange without a status.

use std::borrow::Cow;
use std::net::IpAddr;

use axum::extract::Request;
use axum::http::header::{HeaderMap, HeaderName};
use axum::http::{Method, StatusCode};
use tokio::time::Instant;
use tracing::Span;

use super::{Identity, trace_context};
use crate::ending::AtEnd;
use crate::metrics;
use crate::request_id::RequestId;
use crate::server::Peer;

/// The id that a client, or a proxy in front, gives a request.
const CLIENTS_ID: HeaderName = HeaderName::from_static("x-request-id");

/// Longer ids, or ids of other characters than these, are not written into the log.
const CLIENTS_ID_BYTES_MAX: usize = 128;

pub(super) struct Exchange {
    id: RequestId,
    clients_id: Option<String>,
    method: &'static str,
    route: Cow<'static, str>,
    peer: Option<IpAddr>,
    identity: Identity,
    trace_id: Option<String>,
    span: Span,
    began: Instant,
    status: Option<StatusCode>,
    is_complete: bool,
}

impl Exchange {
    pub(super) fn begin(request: &Request, route: Cow<'static, str>, id: RequestId, identity: Identity) -> Self {
        let method = method_label(request.method());
        let (request_id, label) = (id.as_str(), &*route);
        let span = tracing::info_span!("request", request_id, method, route = label, otel.kind = "server");
        let trace_id = trace_context::join(&span, request.headers(), || format!("{method} {route}"));
        let clients_id = clients_id(request.headers());
        let peer = request.extensions().get::<Peer>().map(|Peer(address)| *address);
        metrics::request_began();
        let (began, status, is_complete) = (Instant::now(), None, false);
        Self { id, clients_id, method, route, peer, identity, trace_id, span, began, status, is_complete }
    }

    pub(super) const fn span(&self) -> &Span {
        &self.span
    }

    pub(super) const fn answered(&mut self, status: StatusCode) {
        self.status = Some(status);
    }

    fn log(&self, duration_ms: u64) {
        let (organization, user) = self.identity.0.get().map(|(organization, user)| (organization, user)).unzip();
        // Outside of the span, whose fields would only repeat these.
        tracing::info!(
            target: "api::access",
            parent: None,
            request_id = self.id.as_str(),
            client_request_id = self.clients_id,
            trace_id = self.trace_id,
            method = self.method,
            route = &*self.route,
            status = self.status.map(|status| status.as_u16()),
            duration_ms,
            organization = organization.map(tracing::field::display),
            user = user.map(tracing::field::display),
            peer = self.peer.map(tracing::field::display),
            cut_off = (!self.is_complete).then_some(true),
            "request"
        );
    }
}

impl AtEnd for Exchange {
    fn at_end(mut self, is_complete: bool) {
        self.is_complete = is_complete;
    }
}

impl Drop for Exchange {
    fn drop(&mut self) {
        let duration = self.began.elapsed();
        self.log(u64::try_from(duration.as_millis()).unwrap_or(u64::MAX));
        metrics::request_ended(self.method, std::mem::take(&mut self.route), self.status, duration);
        trace_context::close(&self.span, self.status, self.identity.0.get());
    }
}

/// Clients may invent methods, and each would be a label.
fn method_label(method: &Method) -> &'static str {
    const KNOWN: [&str; 9] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "CONNECT", "TRACE"];
    KNOWN.iter().find(|known| **known == method.as_str()).copied().unwrap_or("other")
}

/// The client's id, if it can do no harm in a log.
fn clients_id(headers: &HeaderMap) -> Option<String> {
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
    fn a_clients_id_is_noted_when_it_is_harmless() {
        let check = |text: &str, expect: bool| {
            let headers = HeaderMap::from_iter([(CLIENTS_ID, HeaderValue::from_str(text).unwrap())]);
            assert_eq!(clients_id(&headers).is_some(), expect, "{text}");
        };
        check("8f6c-11_a", true);
        check("Root=1-67891233-abcdef012345678912345678", true);
        check("", false);
        check("a b", false);
        check("{\"level\":\"error\"}", false);
        check(&"x".repeat(129), false);
    }

    #[test]
    fn an_invented_method_is_no_label() {
        assert_eq!(method_label(&Method::DELETE), "DELETE");
        assert_eq!(method_label(&Method::from_bytes(b"BREW").unwrap()), "other");
    }
}
