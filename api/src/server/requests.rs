//! From a request of hyper's to the router: who asks is added, the body gets its times, and the seat is told when a request begins and
//! when its answer is made.

use std::convert::Infallible;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::http::HeaderValue;
use axum::http::header::CONNECTION;
use axum::response::Response;
use hyper::body::{Body as _, Incoming};
use hyper::service::Service;
use tower::ServiceExt;

use super::body::TimedBody;
use super::limits::{BodyLimits, ConnectionLimits};
use super::seats::Seat;
use crate::ending::{AtEnd, with_end};

/// The address at the other end of the connection; an extension of the request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Peer(pub(crate) IpAddr);

/// Answers the requests of one connection.
pub(super) struct Requests {
    router: Router,
    peer: Peer,
    seat: Arc<Seat>,
    body: BodyLimits,
    git_body: BodyLimits,
}

impl Requests {
    pub(super) fn new(router: Router, peer: IpAddr, seat: Arc<Seat>, limits: &ConnectionLimits) -> Self {
        Self { router, peer: Peer(peer), seat, body: limits.body, git_body: limits.git_body }
    }

    fn prepared(&self, request: hyper::Request<Incoming>) -> Request {
        let limits = if is_git(request.uri().path()) { self.git_body } else { self.body };
        let (mut parts, body) = request.into_parts();
        parts.extensions.insert(self.peer);
        self.seat.set_owes_body(false);
        let body = match body.is_end_stream() {
            true => Body::empty(),
            false => Body::new(TimedBody::new(body, limits, Arc::clone(&self.seat))),
        };
        Request::from_parts(parts, body)
    }
}

impl Service<hyper::Request<Incoming>> for Requests {
    type Response = Response;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response, Infallible>> + Send>>;

    fn call(&self, request: hyper::Request<Incoming>) -> Self::Future {
        self.seat.begin();
        let made = Made(Arc::clone(&self.seat));
        let answer = self.router.clone().oneshot(self.prepared(request));
        let seat = Arc::clone(&self.seat);
        Box::pin(async move { Ok(with_end(parting(answer.await?, &seat), made)) })
    }
}

/// Says that the connection ends with this answer, when nobody has read the body to its end: hyper closes it then, and
/// a client that was not told would send its next request into the closed connection.
fn parting(mut answer: Response, seat: &Seat) -> Response {
    if seat.owes_body() {
        answer.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    }
    answer
}

/// The answer goes to the socket, and after it the connection waits for its next request.
struct Made(Arc<Seat>);

impl AtEnd for Made {
    fn at_end(self, _: bool) {
        self.0.end();
    }
}

/// The router takes these segments as they came, so that no other spelling leads to git.
fn is_git(path: &str) -> bool {
    let mut segments = path.split('/').skip(3);
    segments.next() == Some("tool") && segments.next() == Some("git")
}

#[cfg(test)]
mod tests {
    use super::is_git;

    #[test]
    fn paths_of_git_are_known() {
        assert!(is_git("/v1/acme/tool/git/tools.git/git-receive-pack"));
        for path in ["/v1/acme/tool/gi/x", "/v1/acme/tools/git/x", "/tool/git/x", "/v1/tool/git", "/", ""] {
            assert!(!is_git(path), "{path}");
        }
    }
}
