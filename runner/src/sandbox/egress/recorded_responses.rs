//! Responses to requests that may change something, recorded for simulations of equal requests.

use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::Arc;

use hyper::StatusCode;
use registry::Timestamp;
use sha2::{Digest as _, Sha256};
use url::Url;

use super::request_rules::DROPPED_HEADERS;
use crate::sandbox::ports::{HttpError, HttpRequest, HttpResponse};

/// Bytes of one recorded response with its headers. A typical confirmation takes a kilobyte or two, and a run may
/// record a response for each of its requests.
const RESPONSE_BYTES_MAX: usize = 64 << 10;

/// Headers that do not count for the digest, since they would make equal requests differ: headers of framing and
/// tracing, of the program, or new for each request. All others count, since they may identify the caller.
const NOT_COMPARED: [&str; 9] = [
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

/// Words in the names of response headers that are not recorded. They carry or request credentials, which must not
/// outlive their exchange.
const CREDENTIALS: [&str; 10] =
    ["cookie", "auth", "token", "session", "secret", "password", "credential", "csrf", "xsrf", "key"];
/// Response headers about the connection.
const CONNECTION_HEADERS: [&str; 3] = ["keep-alive", "alt-svc", "upgrade"];

/// Finds the recorded response to a request by its digest. A response that cannot be read is an error.
pub type ResponseLookup = Arc<dyn Fn([u8; 32]) -> FoundResponse + Send + Sync>;
pub type FoundResponse = Pin<Box<dyn Future<Output = Result<Option<HttpResponse>, HttpError>> + Send>>;

/// The response to a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordedResponse {
    /// Digest of the request.
    pub request: [u8; 32],
    pub response: HttpResponse,
    pub at: Timestamp,
}

/// The recorded responses of one run, the newest for each request.
#[derive(Debug, Default)]
pub struct RecordedResponses(BTreeMap<[u8; 32], RecordedResponse>);

impl RecordedResponses {
    /// Records a response, unless it must not be kept.
    pub fn add(&mut self, request: [u8; 32], response: &HttpResponse, at: Timestamp) {
        if let Some(response) = select_recordable(response) {
            self.0.insert(request, RecordedResponse { request, response, at });
        }
    }

    pub fn take(&mut self) -> Vec<RecordedResponse> {
        std::mem::take(&mut self.0).into_values().collect()
    }
}

/// The digest of a request as the tool made it, with placeholders in place of secrets. Equal requests have equal
/// digests.
pub fn compute_digest(request: &HttpRequest) -> [u8; 32] {
    let HttpRequest { method, url, headers, body } = request;
    let url = Url::parse(url).map_or_else(|_| url.clone(), without_fragment);
    let mut compared: Vec<_> = headers.iter().map(|(name, value)| (name.to_ascii_lowercase(), value)).collect();
    compared.retain(|(name, _)| !DROPPED_HEADERS.contains(&name.as_str()) && !NOT_COMPARED.contains(&name.as_str()));
    // The sort is stable: headers of one name keep their order.
    compared.sort_by(|(one, _), (other, _)| one.cmp(other));
    let mut hash = Sha256::new();
    let mut part = |bytes: &[u8]| {
        hash.update((bytes.len() as u64).to_be_bytes());
        hash.update(bytes);
    };
    [method.as_bytes(), url.as_bytes(), body].into_iter().for_each(&mut part);
    for (name, value) in &compared {
        part(name.as_bytes());
        part(value.as_bytes());
    }
    hash.finalize().into()
}

fn without_fragment(mut url: Url) -> String {
    url.set_fragment(None);
    url.into()
}

/// The response as it is recorded; `None` when it is too large, or reports a temporary state of the server.
fn select_recordable(response: &HttpResponse) -> Option<HttpResponse> {
    let HttpResponse { status, headers, body } = response;
    let is_temporary =
        *status >= 500 || *status == StatusCode::TOO_MANY_REQUESTS || *status == StatusCode::REQUEST_TIMEOUT;
    let headers: Vec<_> = headers.iter().filter(|(name, _)| is_kept(name)).cloned().collect();
    let bytes = body.len() + headers.iter().map(|(name, value)| name.len() + value.len()).sum::<usize>();
    let is_kept = !is_temporary && bytes <= RESPONSE_BYTES_MAX;
    is_kept.then(|| HttpResponse { status: *status, headers, body: body.clone() })
}

fn is_kept(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let is_connection_header = DROPPED_HEADERS.contains(&name.as_str()) || CONNECTION_HEADERS.contains(&name.as_str());
    !is_connection_header && !CREDENTIALS.iter().any(|word| name.contains(word))
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
    fn equal_requests_have_one_digest() {
        let one = compute_digest(&request(URL, &[("Accept", "a"), ("X-Account", "7")], "{}"));
        for same in [
            request("https://API.example.com:443/orders?a=1#x", &[("x-account", "7"), ("accept", "a")], "{}"),
            request(URL, &[("Accept", "a"), ("User-Agent", "u"), ("Idempotency-Key", "9"), ("X-Account", "7")], "{}"),
            request(
                URL,
                &[("Connection", "close"), ("Accept", "a"), ("Content-Length", "2"), ("X-Account", "7")],
                "{}",
            ),
        ] {
            assert_eq!(compute_digest(&same), one, "{same:?}");
        }
    }

    #[test]
    fn different_requests_have_different_digests() {
        let headers = [("Accept", "a"), ("Authorization", "Bearer {{secret:KEY}}")];
        let mut digests = vec![compute_digest(&HttpRequest { method: "PUT".into(), ..request(URL, &headers, "{}") })];
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
            digests.push(compute_digest(&other));
        }
        let count = digests.len();
        digests.sort_unstable();
        digests.dedup();
        assert_eq!(digests.len(), count);
    }

    #[test]
    fn credentials_of_a_response_are_not_recorded() {
        let gone = ["set-cookie", "Set-Cookie2", "WWW-Authenticate", "authorization", "x-auth-token", "x-api-key"];
        let gone = [&gone[..], &["X-CSRF-Token", "x-session-id", "x-amz-security-token", "keep-alive"]].concat();
        let stays = ["content-type", "location", "etag", "x-total-count", "content-length"];
        let kept = select_recordable(&response(201, &[&gone[..], &stays].concat(), 3)).unwrap();
        assert_eq!(kept.headers.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(), stays);
        assert_eq!((kept.status, kept.body.as_slice()), (201, b"xxx".as_slice()));
    }

    #[test]
    fn large_and_temporary_responses_are_not_recorded() {
        let is_kept = |status, bytes| select_recordable(&response(status, &[], bytes)).is_some();
        assert!(is_kept(200, RESPONSE_BYTES_MAX) && is_kept(404, 0) && is_kept(302, 0));
        assert!(!is_kept(200, RESPONSE_BYTES_MAX + 1));
        assert!(select_recordable(&response(200, &["a"], RESPONSE_BYTES_MAX)).is_none(), "headers count");
        for status in [500, 503, 599, 429, 408] {
            assert!(!is_kept(status, 0), "{status}");
        }
    }

    #[test]
    fn the_newest_response_to_a_request_is_kept() {
        let mut responses = RecordedResponses::default();
        let at = Timestamp::from_milliseconds;
        responses.add([1; 32], &response(201, &[], 1), at(1));
        responses.add([1; 32], &response(200, &[], 2), at(2));
        responses.add([1; 32], &response(500, &[], 3), at(3));
        responses.add([2; 32], &response(204, &[], 0), at(4));
        let taken: Vec<_> =
            responses.take().into_iter().map(|one| (one.request[0], one.response.status, one.at)).collect();
        assert_eq!(taken, [(1, 200, at(2)), (2, 204, at(4))]);
        assert!(responses.take().is_empty());
    }
}
