//! Request log: each request gets an id and a span, and leaves one line in the log, its metrics and its trace, however
//! it ends.
//!
//! Everything that happens for a request happens inside its span, also in a task that outlives it, so that every line of
//! the log and every trace leads back to it.
//!
//! This is one axum middleware around all routes. tower-http's layers do not keep these promises: `TraceLayer` is silent
//! about a client that leaves before the end of its response ([`crate::body_end`]), `SetRequestIdLayer` takes over the id
//! that a client sends (`tests/operations/logs.rs`), and `CatchPanicLayer` has no request id for its response.

mod exchange;
mod trace_context;

use std::any::Any;
use std::panic::AssertUnwindSafe;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use futures_util::FutureExt;
use tracing::Instrument;

use crate::body_end::attach_end;
use crate::error::Fault;
use crate::extract::IgnoredFields;
use crate::head_limits;
use crate::request_id::{HEADER, RequestId, RequestIds};
use crate::request_identity::RequestIdentity;
use crate::response_headers;
use exchange::Exchange;

/// The header that names ignored fields of a body.
const IGNORED_FIELDS: HeaderName = HeaderName::from_static("x-ignored-fields");
/// Characters of a field's name in it.
const IGNORED_CHARACTERS_MAX: usize = 64;

/// Gives the request its id and its span. Turns a fault into a line of the log and a response that shows only the id.
pub async fn log_request(State(ids): State<RequestIds>, mut request: Request, next: Next) -> Response {
    let id = ids.next();
    let (identity, ignored) = (RequestIdentity::default(), IgnoredFields::default());
    let mut exchange = Exchange::begin(&request, id.clone(), identity.clone());
    request.extensions_mut().insert(id.clone());
    request.extensions_mut().insert(identity);
    request.extensions_mut().insert(ignored.clone());
    let mut response = answer_request(request, next, &id).instrument(exchange.span().clone()).await;
    add_ignored_fields(response.headers_mut(), ignored.names());
    exchange.note_status(response.status());
    attach_end(response, exchange)
}

/// Names the fields of the body that the operation does not have, in ASCII. Clients may send them: the contract has
/// operations ignore unknown fields.
fn add_ignored_fields(headers: &mut HeaderMap, fields: &[String]) {
    if fields.is_empty() {
        return;
    }
    let names =
        fields.iter().map(|name| name.chars().take(IGNORED_CHARACTERS_MAX).flat_map(char::escape_default).collect());
    let names: Vec<String> = names.collect();
    if let Ok(value) = HeaderValue::from_str(&names.join(", ")) {
        headers.insert(IGNORED_FIELDS, value);
    }
}

async fn answer_request(request: Request, next: Next, id: &RequestId) -> Response {
    let mut response = match head_limits::check(&request) {
        Ok(()) => AssertUnwindSafe(next.run(request)).catch_unwind().await.unwrap_or_else(respond_after_panic),
        Err(refused) => refused.into_response(),
    };
    if let Some(fault) = response.extensions_mut().remove::<Fault>() {
        response = fault.log(id.as_str()).into_response();
    }
    response_headers::add(response.headers_mut());
    if let Ok(value) = HeaderValue::from_str(id.as_str()) {
        response.headers_mut().insert(HEADER, value);
    }
    response
}

fn respond_after_panic(panic: Box<dyn Any + Send>) -> Response {
    let text = panic.downcast_ref::<&str>().map(ToString::to_string);
    let text = text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default();
    Fault::new(format!("a handler panicked: {text}")).into_response()
}

#[cfg(test)]
mod tests {
    use axum::Router;
    use axum::body::Body;
    use axum::http::StatusCode;
    use axum::middleware::from_fn_with_state;
    use axum::routing::get;
    use http_body_util::BodyExt;
    use registry::{Clock, Timestamp};
    use tower::ServiceExt;

    use super::*;
    use crate::error::Error;

    async fn fail() -> Error {
        Error::Internal { detail: "a private path".into() }
    }

    async fn panic() {
        panic!("a private path");
    }

    #[tokio::test]
    async fn a_fault_shows_the_request_id_and_nothing_else() {
        check_that_the_id_alone_is_shown(Router::new().route("/", get(fail))).await;
    }

    #[tokio::test]
    async fn a_panic_shows_the_request_id_and_nothing_else() {
        check_that_the_id_alone_is_shown(Router::new().route("/", get(panic))).await;
    }

    async fn check_that_the_id_alone_is_shown(router: Router) {
        let ids = RequestIds::new(&Clock::fixed(Timestamp::from_milliseconds(255)));
        let router = router.layer(from_fn_with_state(ids, log_request));
        let response = router.oneshot(Request::new(Body::empty())).await.unwrap();
        assert_eq!(response.status(), StatusCode::INTERNAL_SERVER_ERROR);
        assert_eq!(response.headers()[HEADER], "ff-1");
        let body = response.into_body().collect().await.unwrap().to_bytes();
        let expected = r#"{"detail":"Something went wrong here. Request id: ff-1","code":"internal"}"#;
        assert_eq!(body, expected);
    }
}
