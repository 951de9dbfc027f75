//! W3C trace context: the span of a request becomes a child of the span that its sender names.
//!
//! Without an exporter only the trace's id is read, for the log.

use std::str::FromStr;

use axum::http::StatusCode;
use axum::http::header::{HeaderMap, HeaderName};
use opentelemetry::trace::{SpanContext, SpanId, Status, TraceContextExt, TraceFlags, TraceId, TraceState};
use opentelemetry::{Context, KeyValue};
use registry::{OrganizationId, UserId};
use tracing::Span;
use tracing_opentelemetry::OpenTelemetrySpanExt;

const TRACEPARENT: HeaderName = HeaderName::from_static("traceparent");
const TRACESTATE: HeaderName = HeaderName::from_static("tracestate");

/// The length that the standard asks every participant to pass on. Longer states are dropped, as the standard allows.
const TRACESTATE_BYTES_MAX: usize = 512;

/// Makes `span` part of the sender's trace, gives it the name that it has in traces, and returns the trace's id.
pub(super) fn join(span: &Span, headers: &HeaderMap, name: impl FnOnce() -> String) -> Option<String> {
    let sender = read_sender(headers);
    if let Some(sender) = &sender {
        // Fails if nothing is exported; then there is no trace to join.
        span.set_parent(Context::new().with_remote_span_context(sender.clone())).unwrap_or_default();
    }
    let context = span.context();
    let own = context.span();
    let mut trace_id = own.span_context().trace_id();
    if trace_id == TraceId::INVALID {
        trace_id = sender?.trace_id();
    } else {
        own.update_name(name());
    }
    Some(trace_id.to_string())
}

/// Records in the trace how the request ended, under OpenTelemetry's names.
pub(super) fn close(span: &Span, status: Option<StatusCode>, identity: Option<&(OrganizationId, UserId)>) {
    let context = span.context();
    let own = context.span();
    if !own.is_recording() {
        return;
    }
    if let Some(status) = status {
        own.set_attribute(KeyValue::new("http.response.status_code", i64::from(status.as_u16())));
        if status.is_server_error() {
            own.set_status(Status::error(""));
        }
    }
    if let Some((organization, user)) = identity {
        own.set_attribute(KeyValue::new("lathe.organization", organization.to_string()));
        own.set_attribute(KeyValue::new("user.id", user.to_string()));
    }
}

/// Returns the sender's span if the request names exactly one, in the form of the standard.
fn read_sender(headers: &HeaderMap) -> Option<SpanContext> {
    let mut parents = headers.get_all(TRACEPARENT).iter();
    let (Some(parent), None) = (parents.next(), parents.next()) else { return None };
    let (trace_id, span_id, flags) = parse(parent.to_str().ok()?)?;
    Some(SpanContext::new(trace_id, span_id, flags, true, read_state(headers)))
}

/// Parses `00-{trace id}-{span id}-{flags}`. A later version may append parts.
fn parse(text: &str) -> Option<(TraceId, SpanId, TraceFlags)> {
    let mut parts = text.split('-');
    let (version, trace_id, span_id, flags) = (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
    let is_known = version == "00" && parts.next().is_none();
    let is_later = version != "00" && version != "ff" && is_hexadecimal(version, 2);
    let is_formed = is_hexadecimal(trace_id, 32) && is_hexadecimal(span_id, 16) && is_hexadecimal(flags, 2);
    if !(is_known || is_later) || !is_formed {
        return None;
    }
    let (trace_id, span_id) = (TraceId::from_hex(trace_id).ok()?, SpanId::from_hex(span_id).ok()?);
    let flags = TraceFlags::new(u8::from_str_radix(flags, 16).ok()?);
    (trace_id != TraceId::INVALID && span_id != SpanId::INVALID).then_some((trace_id, span_id, flags))
}

/// Whether the text has this number of lower-case digits; the standard allows no others.
fn is_hexadecimal(text: &str, digits: usize) -> bool {
    text.len() == digits && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// Returns the `tracestate`, which other systems use. An invalid state leaves the trace valid.
fn read_state(headers: &HeaderMap) -> TraceState {
    let lists: Vec<_> = headers.get_all(TRACESTATE).iter().filter_map(|value| value.to_str().ok()).collect();
    let text = lists.join(",");
    if text.len() > TRACESTATE_BYTES_MAX {
        return TraceState::default();
    }
    TraceState::from_str(&text).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";
    const SPAN: &str = "b7ad6b7169203331";

    #[test]
    fn only_the_form_of_the_standard_is_parsed() {
        let check = |text: &str, expect: bool| assert_eq!(parse(text).is_some(), expect, "{text}");
        check(&format!("00-{TRACE}-{SPAN}-01"), true);
        check(&format!("00-{TRACE}-{SPAN}-00"), true);
        check(&format!("cc-{TRACE}-{SPAN}-01-what-comes-later"), true);
        check(&format!("00-{TRACE}-{SPAN}-01-what-comes-later"), false);
        check(&format!("ff-{TRACE}-{SPAN}-01"), false);
        check(&format!("00-{}-{SPAN}-01", "0".repeat(32)), false);
        check(&format!("00-{TRACE}-{}-01", "0".repeat(16)), false);
        check(&format!("00-{}-{SPAN}-01", TRACE.to_uppercase()), false);
        check(&format!("00-{TRACE}-{SPAN}"), false);
        check("", false);
    }

    #[test]
    fn two_senders_are_ignored() {
        let mut headers = HeaderMap::new();
        let parent = format!("00-{TRACE}-{SPAN}-01");
        headers.append(TRACEPARENT, parent.parse().unwrap());
        assert_eq!(read_sender(&headers).map(|sender| sender.trace_id().to_string()).as_deref(), Some(TRACE));
        headers.append(TRACEPARENT, parent.parse().unwrap());
        assert!(read_sender(&headers).is_none());
    }
}
