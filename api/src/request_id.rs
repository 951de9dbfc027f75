//! One id per request: made here, sent back as `x-request-id`, and the only thing a caller sees of a fault.
//!
//! A request id offered by the caller is ignored, so that nobody can write into the log or make two requests look
//! like one.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use axum::extract::{FromRequestParts, Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderName, HeaderValue};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use registry::Clock;

use crate::error::{Error, Fault};
use crate::openapi::{Inputs, Reads};

const HEADER: HeaderName = HeaderName::from_static("x-request-id");

/// Names one request in the log.
#[derive(Clone, Debug)]
pub(crate) struct RequestId(Arc<str>);

impl RequestId {
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    #[cfg(test)]
    pub(crate) fn for_tests() -> Self {
        Self("test".into())
    }
}

/// Hands out request ids: the start of this process, then a count.
pub(crate) struct RequestIds {
    started: String,
    next: AtomicU64,
}

impl RequestIds {
    pub(crate) fn new(clock: &Clock) -> Self {
        Self { started: format!("{:x}", clock.now().as_milliseconds()), next: AtomicU64::new(1) }
    }

    fn next(&self) -> RequestId {
        let count = self.next.fetch_add(1, Ordering::Relaxed);
        RequestId(format!("{}-{count:x}", self.started).into())
    }
}

/// Gives the request its id, and turns a fault into a logged line and an answer that shows the id only.
pub(crate) async fn label(State(ids): State<Arc<RequestIds>>, mut request: Request, next: Next) -> Response {
    let id = ids.next();
    request.extensions_mut().insert(id.clone());
    let mut response = next.run(request).await;
    if let Some(fault) = response.extensions_mut().remove::<Fault>() {
        response = fault.log(&id).into_response();
    }
    if let Ok(value) = HeaderValue::from_str(id.as_str()) {
        response.headers_mut().insert(HEADER, value);
    }
    response
}

impl Reads for RequestId {
    fn reads(_: &mut Inputs) {}
}

impl<S: Sync> FromRequestParts<S> for RequestId {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Error> {
        let id = parts.extensions.get::<Self>().cloned();
        id.ok_or_else(|| Error::Internal { detail: "the request has no id".into() })
    }
}

#[cfg(test)]
mod tests {
    use axum::Router;
    use axum::body::Body;
    use axum::http::StatusCode;
    use axum::middleware::from_fn_with_state;
    use axum::routing::get;
    use http_body_util::BodyExt;
    use registry::Timestamp;
    use tower::ServiceExt;

    use super::*;

    async fn fail() -> Error {
        Error::Internal { detail: "a private path".into() }
    }

    #[tokio::test]
    async fn a_fault_shows_the_request_id_and_nothing_else() {
        let ids = Arc::new(RequestIds::new(&Clock::fixed(Timestamp::from_milliseconds(255))));
        let router = Router::new().route("/", get(fail)).layer(from_fn_with_state(ids, label));
        let response = router.oneshot(Request::new(Body::empty())).await.unwrap();
        assert_eq!(response.status(), StatusCode::INTERNAL_SERVER_ERROR);
        assert_eq!(response.headers()[HEADER], "ff-1");
        let body = response.into_body().collect().await.unwrap().to_bytes();
        let expected = r#"{"detail":"Something went wrong here. Request id: ff-1","code":"internal"}"#;
        assert_eq!(body, expected);
    }
}
