//! What requests that may change something were answered, for simulations of the same requests.

use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::Arc;

use hyper::StatusCode;
use registry::Timestamp;
use sha2::{Digest as _, Sha256};
use url::Url;

use super::head::DROPPED;
use crate::{HttpError, HttpRequest, HttpResponse};

/// Of one answer that is kept, with its headers. Receipts of what was changed take a kilobyte or two, and a run may hear
/// as many answers as it may send requests.
const ANSWER_BYTES_MAX: usize = 64 << 10;

/// Headers that say nothing of what is asked, and would make equal requests differ: of the message and its way, of the
/// program, or new with each request. All others count, since they may say who asks.
const UNASKED: [&str; 9] = [
    "host",
    "content-length",
    "user-agent",
    "date",
    "idempotency-key",
    "traceparent",
    "tracestate",
    "x-request-id",
    "x-correlation-id",
];

/// Headers of an answer with one of these in their names are not kept: they hand over or ask for credentials, which must
/// not outlive the exchange that they were for.
const CREDENTIALS: [&str; 10] =
    ["cookie", "auth", "token", "session", "secret", "password", "credential", "csrf", "xsrf", "key"];
/// Of a connection that a recorded answer does not come over.
const OF_CONNECTIONS: [&str; 3] = ["keep-alive", "alt-svc", "upgrade"];

/// Finds the recorded answer to a request by its digest. What cannot be read is a refusal.
pub type Recall = Arc<dyn Fn([u8; 32]) -> Recalled + Send + Sync>;
pub type Recalled = Pin<Box<dyn Future<Output = Result<Option<HttpResponse>, HttpError>> + Send>>;

/// A request's digest, and what it was answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Heard {
    pub request: [u8; 32],
    pub response: HttpResponse,
    pub at: Timestamp,
}

/// The answers of one run, the newest to each request.
#[derive(Debug, Default)]
pub struct HeardAnswers(BTreeMap<[u8; 32], Heard>);

impl HeardAnswers {
    /// Takes an answer in, unless it is not one to be kept.
    pub fn hear(&mut self, request: [u8; 32], response: &HttpResponse, at: Timestamp) {
        if let Some(response) = worth_keeping(response) {
            self.0.insert(request, Heard { request, response, at });
        }
    }

    pub fn take(&mut self) -> Vec<Heard> {
        std::mem::take(&mut self.0).into_values().collect()
    }
}

/// The same for all requests that ask the same, as the tool made them: placeholders of secrets count as they stand there.
pub fn digest(request: &HttpRequest) -> [u8; 32] {
    let HttpRequest { method, url, headers, body } = request;
    let url = Url::parse(url).map_or_else(|_| url.clone(), without_fragment);
    let mut asked: Vec<_> = headers.iter().map(|(name, value)| (name.to_ascii_lowercase(), value)).collect();
    asked.retain(|(name, _)| !DROPPED.contains(&name.as_str()) && !UNASKED.contains(&name.as_str()));
    // Stable: several of one name stay in their order.
    asked.sort_by(|(one, _), (other, _)| one.cmp(other));
    let mut hash = Sha256::new();
    let mut part = |bytes: &[u8]| {
        hash.update((bytes.len() as u64).to_be_bytes());
        hash.update(bytes);
    };
    [method.as_bytes(), url.as_bytes(), body].into_iter().for_each(&mut part);
    for (name, value) in &asked {
        part(name.as_bytes());
        part(value.as_bytes());
    }
    hash.finalize().into()
}

fn without_fragment(mut url: Url) -> String {
    url.set_fragment(None);
    url.into()
}

/// An answer as it is kept; nothing when it is too large, or says more of the other side's state than of the request.
fn worth_keeping(response: &HttpResponse) -> Option<HttpResponse> {
    let HttpResponse { status, headers, body } = response;
    let is_passing =
        *status >= 500 || *status == StatusCode::TOO_MANY_REQUESTS || *status == StatusCode::REQUEST_TIMEOUT;
    let headers: Vec<_> = headers.iter().filter(|(name, _)| is_kept(name)).cloned().collect();
    let bytes = body.len() + headers.iter().map(|(name, value)| name.len() + value.len()).sum::<usize>();
    let is_kept = !is_passing && bytes <= ANSWER_BYTES_MAX;
    is_kept.then(|| HttpResponse { status: *status, headers, body: body.clone() })
}

fn is_kept(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let is_of_connection = DROPPED.contains(&name.as_str()) || OF_CONNECTIONS.contains(&name.as_str());
    !is_of_connection && !CREDENTIALS.iter().any(|word| name.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(url: &str, headers: &[(&str, &str)], body: &str) -> HttpRequest {
        let headers = headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        HttpRequest { method: "POST".into(), url: url.into(), headers, body: body.into() }
    }

    fn response(status: u16, headers: &[&str], bytes: usize) -> HttpResponse {
        let headers = headers.iter().map(|name| ((*name).to_owned(), "v".to_owned())).collect();
        HttpResponse { status, headers, body: vec![b'x'; bytes] }
    }

    const URL: &str = "https://api.example.com/orders?a=1";

    #[test]
    fn what_asks_the_same_has_one_digest() {
        let one = digest(&request(URL, &[("Accept", "a"), ("X-Account", "7")], "{}"));
        for same in [
            request("https://API.example.com:443/orders?a=1#x", &[("x-account", "7"), ("accept", "a")], "{}"),
            request(URL, &[("Accept", "a"), ("User-Agent", "u"), ("Idempotency-Key", "9"), ("X-Account", "7")], "{}"),
            request(
                URL,
                &[("Connection", "close"), ("Accept", "a"), ("Content-Length", "2"), ("X-Account", "7")],
                "{}",
            ),
        ] {
            assert_eq!(digest(&same), one, "{same:?}");
        }
    }

    #[test]
    fn what_asks_another_thing_or_for_another_has_another() {
        let headers = [("Accept", "a"), ("Authorization", "Bearer {{secret:KEY}}")];
        let mut digests = vec![digest(&HttpRequest { method: "PUT".into(), ..request(URL, &headers, "{}") })];
        for other in [
            request(URL, &headers, "{}"),
            request(URL, &headers, "{ }"),
            request("https://api.example.com/orders?a=2", &headers, "{}"),
            request("http://api.example.com/orders?a=1", &headers, "{}"),
            request(URL, &[("Accept", "a")], "{}"),
            request(URL, &[("Accept", "a"), ("Authorization", "Bearer {{secret:OTHER}}")], "{}"),
            request(URL, &[("Accept", "aa"), ("uthorization", "Bearer {{secret:KEY}}")], "{}"),
            request(URL, &[("Accept", "a"), ("Accept", "b")], "{}"),
            request(URL, &[("Accept", "b"), ("Accept", "a")], "{}"),
        ] {
            digests.push(digest(&other));
        }
        let count = digests.len();
        digests.sort_unstable();
        digests.dedup();
        assert_eq!(digests.len(), count);
    }

    #[test]
    fn credentials_of_an_answer_are_not_kept() {
        let gone = ["set-cookie", "Set-Cookie2", "WWW-Authenticate", "authorization", "x-auth-token", "x-api-key"];
        let gone = [&gone[..], &["X-CSRF-Token", "x-session-id", "x-amz-security-token", "keep-alive"]].concat();
        let stays = ["content-type", "location", "etag", "x-total-count", "content-length"];
        let kept = worth_keeping(&response(201, &[&gone[..], &stays].concat(), 3)).unwrap();
        assert_eq!(kept.headers.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(), stays);
        assert_eq!((kept.status, kept.body.as_slice()), (201, b"xxx".as_slice()));
    }

    #[test]
    fn what_is_too_large_or_of_the_moment_is_not_kept() {
        let is_kept = |status, bytes| worth_keeping(&response(status, &[], bytes)).is_some();
        assert!(is_kept(200, ANSWER_BYTES_MAX) && is_kept(404, 0) && is_kept(302, 0));
        assert!(!is_kept(200, ANSWER_BYTES_MAX + 1));
        assert!(worth_keeping(&response(200, &["a"], ANSWER_BYTES_MAX)).is_none(), "headers count");
        for status in [500, 503, 599, 429, 408] {
            assert!(!is_kept(status, 0), "{status}");
        }
    }

    #[test]
    fn the_newest_answer_to_a_request_stays() {
        let mut heard = HeardAnswers::default();
        let at = Timestamp::from_milliseconds;
        heard.hear([1; 32], &response(201, &[], 1), at(1));
        heard.hear([1; 32], &response(200, &[], 2), at(2));
        heard.hear([1; 32], &response(500, &[], 3), at(3));
        heard.hear([2; 32], &response(204, &[], 0), at(4));
        let taken: Vec<_> = heard.take().into_iter().map(|one| (one.request[0], one.response.status, one.at)).collect();
        assert_eq!(taken, [(1, 200, at(2)), (2, 204, at(4))]);
        assert!(heard.take().is_empty());
    }
}
