//! HTTP through the host, to the hosts that `allowed_hosts` names. Whole messages pass, redirects are answers like any
//! other, and requests that were started wait beside each other.

use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::bindings::lathe::tool::http as wire;
pub use crate::bindings::lathe::tool::http::ErrorCode;
use crate::host;

/// Starts a request for `GET`; the other functions are the same for other methods.
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

/// Sends all at once, and answers in their order.
pub fn send_all(requests: impl IntoIterator<Item = Request>) -> Vec<Result<Response, HttpError>> {
    let started: Vec<_> = requests.into_iter().map(Request::start).collect();
    started.into_iter().map(Exchange::finish).collect()
}

/// Waits until one of these has its answer, and says which have, by their places; none when the time is over before.
pub fn wait(exchanges: &[&Exchange], timeout: Option<Duration>) -> Vec<usize> {
    let ids: Vec<_> = exchanges.iter().filter_map(|exchange| exchange.id()).collect();
    if ids.len() < exchanges.len() {
        let failed = (0..exchanges.len()).filter(|place| exchanges[*place].id().is_none());
        return failed.collect(); // these have their answer already
    }
    let answered = host::wait(&ids, timeout.map(milliseconds));
    (0..ids.len()).filter(|place| answered.contains(&ids[*place])).collect()
}

fn milliseconds(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// A request that is put together.
#[derive(Debug, Clone)]
#[must_use]
pub struct Request {
    request: wire::Request,
    timeout: Option<Duration>,
    problem: Option<String>,
}

/// A request on its way. One that is dropped is given up.
#[derive(Debug)]
pub struct Exchange {
    sent: Result<host::Exchange, HttpError>,
    timeout: Option<Duration>,
    is_over: bool,
}

/// What came back, whatever its status.
#[derive(Debug, Clone)]
pub struct Response {
    pub status: u16,
    /// As they came; [`Response::header`] reads one without regard to case.
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

/// Why no answer came. Answers of any status are none of these.
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

    /// A body with its content type.
    pub fn json(mut self, value: &impl Serialize) -> Self {
        match serde_json::to_vec(value) {
            Ok(body) => self.request.body = body,
            Err(error) => self.problem = Some(format!("the body is no JSON: {error}")),
        }
        self.header("content-type", "application/json")
    }

    /// How long to wait for the answer, within what the host itself waits.
    pub fn timeout(self, timeout: Duration) -> Self {
        Self { timeout: Some(timeout), ..self }
    }

    /// Sends it and waits for the answer.
    pub fn send(self) -> Result<Response, HttpError> {
        self.start().finish()
    }

    /// Sends it and goes on.
    pub fn start(self) -> Exchange {
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

    /// Waits for the answer and takes it.
    pub fn finish(mut self) -> Result<Response, HttpError> {
        let id = self.sent.clone()?;
        if self.timeout.is_some_and(|timeout| host::wait(&[id], Some(milliseconds(timeout))).is_empty()) {
            let message = "the tool waited for no longer".to_owned();
            return Err(HttpError { code: ErrorCode::Timeout, message }); // and what is dropped is given up
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
    /// Whether the status is one of success.
    pub fn is_ok(&self) -> bool {
        (200..300).contains(&self.status)
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(found, _)| found.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }

    /// The body as UTF-8, with marks where it is none.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    pub fn json<T: DeserializeOwned>(&self) -> Result<T, serde_json::Error> {
        serde_json::from_slice(&self.body)
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
