//! HTTP requests through the host, to the hosts in `allowed_hosts`. Bodies are whole messages. Redirects are not
//! followed. Requests that were started run in parallel.

use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::bindings::lathe::tool::http as wire;
pub use crate::bindings::lathe::tool::http::ErrorCode;
use crate::host;
use crate::json::to_json;

/// Creates a `GET` request. The other functions do the same for other methods.
pub fn get(url: impl Into<String>) -> Request {
    Request::new("GET", url)
}

pub fn post(url: impl Into<String>) -> Request {
    Request::new("POST", url)
}

pub fn put(url: impl Into<String>) -> Request {
    Request::new("PUT", url)
}

pub fn patch(url: impl Into<String>) -> Request {
    Request::new("PATCH", url)
}

pub fn delete(url: impl Into<String>) -> Request {
    Request::new("DELETE", url)
}

pub fn head(url: impl Into<String>) -> Request {
    Request::new("HEAD", url)
}

pub fn options(url: impl Into<String>) -> Request {
    Request::new("OPTIONS", url)
}

/// Sends the requests in parallel, and returns the responses in the order of the requests.
pub fn send_all(requests: impl IntoIterator<Item = Request>) -> Vec<Result<Response, HttpError>> {
    let started: Vec<_> = requests.into_iter().map(Request::start).collect();
    started.into_iter().map(Exchange::finish).collect()
}

/// Waits until one of these requests has its response. Returns the indices of all that have one; none after a timeout.
pub fn wait(exchanges: &[&Exchange], timeout: Option<Duration>) -> Vec<usize> {
    let ids: Vec<_> = exchanges.iter().filter_map(|exchange| exchange.id()).collect();
    if ids.len() < exchanges.len() {
        let failed = (0..exchanges.len()).filter(|place| exchanges[*place].id().is_none());
        return failed.collect(); // these have failed already
    }
    let answered = host::wait(&ids, timeout.map(milliseconds));
    (0..ids.len()).filter(|place| answered.contains(&ids[*place])).collect()
}

fn milliseconds(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

const ACCEPT_ENCODING: &str = "accept-encoding";

/// A request that is not sent yet.
#[derive(Debug, Clone)]
#[must_use]
pub struct Request {
    request: wire::Request,
    timeout: Option<Duration>,
    problem: Option<String>,
}

/// A request in flight. Dropping it aborts the request.
#[derive(Debug)]
pub struct Exchange {
    sent: Result<host::Exchange, HttpError>,
    timeout: Option<Duration>,
    is_over: bool,
}

/// A response of any status.
#[derive(Debug, Clone)]
pub struct Response {
    pub status: u16,
    /// The headers as received. [`Response::header`] finds a header without regard to case.
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

/// The reason why there is no response. A response of any status is not an error.
#[derive(Debug, Clone)]
pub struct HttpError {
    pub code: ErrorCode,
    pub message: String,
}

impl Request {
    pub fn new(method: impl Into<String>, url: impl Into<String>) -> Self {
        let request = wire::Request { method: method.into(), url: url.into(), headers: Vec::new(), body: Vec::new() };
        Self { request, timeout: None, problem: None }
    }

    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.request.headers.push((name.into(), value.into()));
        self
    }

    pub fn body(mut self, body: impl Into<Vec<u8>>) -> Self {
        self.request.body = body.into();
        self
    }

    /// Sets a JSON body and the content type.
    pub fn json(mut self, value: &impl Serialize) -> Self {
        match to_json(value) {
            Ok((_, body)) => self.request.body = body.into_bytes(),
            Err(refused) => self.problem = Some(refused.message("body")),
        }
        self.header("content-type", "application/json")
    }

    /// Sets the time to wait for the response. The host's own timeouts apply as well.
    pub fn timeout(self, timeout: Duration) -> Self {
        Self { timeout: Some(timeout), ..self }
    }

    /// Sends the request and waits for the response.
    pub fn send(self) -> Result<Response, HttpError> {
        self.start().finish()
    }

    /// Sends the request without waiting for the response. Unless it has `accept-encoding`, it asks for a body that is not
    /// encoded, since bodies are not decoded.
    pub fn start(mut self) -> Exchange {
        if !self.request.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case(ACCEPT_ENCODING)) {
            self = self.header(ACCEPT_ENCODING, "identity");
        }
        let sent = match self.problem {
            Some(message) => Err(HttpError { code: ErrorCode::InvalidRequest, message }),
            None => Ok(host::start(&self.request)),
        };
        Exchange { sent, timeout: self.timeout, is_over: false }
    }

    pub fn method(&self) -> &str {
        &self.request.method
    }

    pub fn url(&self) -> &str {
        &self.request.url
    }

    #[cfg(not(target_family = "wasm"))]
    pub(crate) fn of(request: &wire::Request) -> Self {
        Self { request: request.clone(), timeout: None, problem: None }
    }
}

impl Exchange {
    fn id(&self) -> Option<host::Exchange> {
        self.sent.as_ref().ok().copied()
    }

    /// Waits for the response and returns it.
    pub fn finish(mut self) -> Result<Response, HttpError> {
        let id = self.sent.clone()?;
        if self.timeout.is_some_and(|timeout| host::wait(&[id], Some(milliseconds(timeout))).is_empty()) {
            let message = "the tool waited for no longer".to_owned();
            return Err(HttpError { code: ErrorCode::Timeout, message }); // dropping the request aborts it
        }
        self.is_over = true;
        let wire::Response { status, headers, body } = host::finish(id).map_err(HttpError::of)?;
        Ok(Response { status, headers, body })
    }
}

impl Drop for Exchange {
    fn drop(&mut self) {
        if let (Some(id), false) = (self.id(), self.is_over) {
            host::cancel(id);
        }
    }
}

impl Response {
    /// Whether the status is 2xx.
    pub fn is_ok(&self) -> bool {
        (200..300).contains(&self.status)
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(found, _)| found.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }

    /// The body as text. Bytes that are not valid UTF-8 are replaced by U+FFFD.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// The body as JSON. A body with an encoding, such as `gzip`, is refused.
    pub fn json<T: DeserializeOwned>(&self) -> Result<T, serde_json::Error> {
        match self.header("content-encoding").filter(|encoding| !encoding.eq_ignore_ascii_case("identity")) {
            Some(encoding) => {
                Err(serde::de::Error::custom(format!("the body is encoded as {encoding}; decode it first")))
            }
            None => serde_json::from_slice(&self.body),
        }
    }
}

impl HttpError {
    pub(crate) fn of(wire::HttpError { code, message }: wire::HttpError) -> Self {
        Self { code, message }
    }
}

impl std::fmt::Display for HttpError {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&self.message)
    }
}

impl std::error::Error for HttpError {}
