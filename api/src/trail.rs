//! What remains of a request: its id, its span, one line in the log and its numbers, however it ends.
//!
//! Everything that happens for a request happens inside its span, also in a task that outlives it, so that every line of
//! the log and every trace leads back to it.

mod exchange;
mod trace_context;

use std::any::Any;
use std::borrow::Cow;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, OnceLock};

use axum::extract::{MatchedPath, Request, State};
use axum::http::{Extensions, HeaderValue};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use futures_util::FutureExt;
use registry::{OrganizationId, Principal, UserId};
use tracing::Instrument;

use crate::ending::with_end;
use crate::error::Fault;
use crate::head;
use crate::request_id::{HEADER, RequestId, RequestIds};
use exchange::Exchange;

/// Who turned out to be asking; an extension of the request, filled by the guard of its route.
#[derive(Clone, Debug, Default)]
struct Identity(Arc<OnceLock<(OrganizationId, UserId)>>);

/// Notes who is asking, for the log.
pub(crate) fn identified(request: &Extensions, principal: &Principal) {
    if let Some(Identity(known)) = request.get::<Identity>() {
        known.get_or_init(|| (principal.organization.clone(), principal.user.clone()));
    }
}

/// Of a request that the table has no operation for: one name for all paths that no route has.
pub(crate) async fn follow_unserved(State(ids): State<RequestIds>, request: Request, next: Next) -> Response {
    let path = request.extensions().get::<MatchedPath>().map(MatchedPath::as_str);
    // Both slash forms are one route.
    let route = path.map(|path| path.strip_suffix('/').filter(|path| !path.is_empty()).unwrap_or(path).to_owned());
    follow(&ids, route.map_or("unmatched".into(), Cow::from), request, |request| next.run(request)).await
}

/// Gives the request its id and its span, and turns a fault into a logged line and an answer that shows the id only.
pub(crate) async fn follow<F: Future<Output = Response>>(
    ids: &RequestIds,
    route: Cow<'static, str>,
    mut request: Request,
    answer: impl FnOnce(Request) -> F,
) -> Response {
    let id = ids.next();
    let identity = Identity::default();
    let mut exchange = Exchange::begin(&request, route, id.clone(), identity.clone());
    request.extensions_mut().insert(id.clone());
    request.extensions_mut().insert(identity);
    let response = answered(request, answer, &id).instrument(exchange.span().clone()).await;
    exchange.answered(response.status());
    with_end(response, exchange)
}

async fn answered<F: Future<Output = Response>>(
    request: Request,
    answer: impl FnOnce(Request) -> F,
    id: &RequestId,
) -> Response {
    let mut response = match head::check(&request) {
        Ok(()) => {
            let answer = async { answer(request).await };
            AssertUnwindSafe(answer).catch_unwind().await.unwrap_or_else(after_panic)
        }
        Err(refused) => refused.into_response(),
    };
    if let Some(fault) = response.extensions_mut().remove::<Fault>() {
        response = fault.log(id).into_response();
    }
    if let Ok(value) = HeaderValue::from_str(id.as_str()) {
        response.headers_mut().insert(HEADER, value);
    }
    response
}

fn after_panic(panic: Box<dyn Any + Send>) -> Response {
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
        shows_the_id_alone(Router::new().route("/", get(fail))).await;
    }

    #[tokio::test]
    async fn so_does_a_panic() {
        shows_the_id_alone(Router::new().route("/", get(panic))).await;
    }

    async fn shows_the_id_alone(router: Router) {
        let ids = RequestIds::new(&Clock::fixed(Timestamp::from_milliseconds(255)));
        let router = router.layer(from_fn_with_state(ids, follow_unserved));
        let response = router.oneshot(Request::new(Body::empty())).await.unwrap();
        assert_eq!(response.status(), StatusCode::INTERNAL_SERVER_ERROR);
        assert_eq!(response.headers()[HEADER], "ff-1");
        let body = response.into_body().collect().await.unwrap().to_bytes();
        let expected = r#"{"detail":"Something went wrong here. Request id: ff-1","code":"internal"}"#;
        assert_eq!(body, expected);
    }
}
