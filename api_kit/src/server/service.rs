//! Passes hyper's requests to the router: adds the client's address, bounds the time of the body, and reports to the
//! connection limiter when a request begins and when its response ends.

use std::convert::Infallible;
use std::pin::Pin;

use axum::Router;
use axum::extract::Request;
use axum::http::HeaderValue;
use axum::http::header::{CONNECTION, TRANSFER_ENCODING};
use axum::response::Response;
use hyper::body::Incoming;
use hyper::service::Service;
use tower::ServiceExt;

use super::body::time_body;
use super::limiter::{Activity, Event};
use super::limits::BodyLimits;
use super::peer::Peer;
use super::stream_owner::StreamOwner;
use super::trusted_proxies::TrustedProxies;
use crate::body_end::{OnBodyEnd, attach_end};

/// Answers the requests of one connection.
pub(super) struct ConnectionService {
    pub(super) router: Router,
    pub(super) peer: Peer,
    pub(super) trusted_proxies: TrustedProxies,
    pub(super) activity: Activity,
    pub(super) body: BodyLimits,
    pub(super) git_body: BodyLimits,
}

impl ConnectionService {
    fn prepare_request(&self, request: hyper::Request<Incoming>) -> Request {
        let limits = if is_git(request.uri().path()) { self.git_body } else { self.body };
        let (mut parts, body) = request.into_parts();
        let client = self.trusted_proxies.find_client(self.peer.0, &parts.headers);
        parts.extensions.insert(Peer(client));
        Request::from_parts(parts, time_body(body, limits, self.activity.clone()))
    }
}

impl Service<hyper::Request<Incoming>> for ConnectionService {
    type Response = Response;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response, Infallible>> + Send>>;

    fn call(&self, request: hyper::Request<Incoming>) -> Self::Future {
        let activity = self.activity.clone();
        activity.report(Event::RequestBegan);
        let is_chunked = request.headers().contains_key(TRANSFER_ENCODING);
        let response = self.router.clone().oneshot(self.prepare_request(request));
        Box::pin(async move {
            let mut response = response.await?;
            if let Some(owner) = response.extensions().get::<StreamOwner>() {
                activity.report(Event::Listens(*owner));
            }
            if is_chunked || activity.is_last_response() {
                end_connection(&mut response);
            }
            Ok(attach_end(response, ResponseEnd(activity)))
        })
    }
}

/// Ends the connection with this response, as each of a server that is about to end. When no handler has read the body to its end, hyper closes the connection, and
/// a client that was not told would send its next request into it. After a body in chunks only hyper knows where the next
/// head begins, so that [`super::heads`] cannot check it.
fn end_connection(response: &mut Response) {
    response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
}

struct ResponseEnd(Activity);

impl OnBodyEnd for ResponseEnd {
    fn on_body_end(self, _: bool) {
        self.0.report(Event::ResponseEnded);
    }
}

/// The router compares these segments without decoding them, so that no other spelling leads to git.
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
