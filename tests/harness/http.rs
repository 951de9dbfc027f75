//! A plain HTTP client. Every answer is checked against the contract before a test sees it.

use std::sync::LazyLock;

use reqwest::header::HeaderMap;
use serde_json::Value;
use tokio::runtime::Runtime;

use super::{Event, Server, contract, events};

static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| {
    tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().expect("a runtime")
});

static CLIENT: LazyLock<reqwest::Client> = LazyLock::new(|| {
    // Somebody else may have chosen first; any choice will do.
    let _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::builder().no_proxy().build().expect("a client")
});

/// A request on its way.
pub struct Request<'a> {
    server: &'a Server,
    method: String,
    path: String,
    request: reqwest::RequestBuilder,
}

/// What came back.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub headers: HeaderMap,
    pub body: Vec<u8>,
}

impl<'a> Request<'a> {
    pub fn new(server: &'a Server, method: &str, path: &str) -> Self {
        let url = format!("{}{path}", server.url);
        let request = CLIENT.request(method.parse().expect("a method"), url);
        Self { server, method: method.to_owned(), path: path.to_owned(), request }
    }

    pub fn bearer(mut self, token: &str) -> Self {
        self.request = self.request.bearer_auth(token);
        self
    }

    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.request = self.request.header(name, value);
        self
    }

    pub fn query(mut self, pairs: &[(&str, &str)]) -> Self {
        self.request = self.request.query(pairs);
        self
    }

    pub fn json(mut self, body: &Value) -> Self {
        self.request = self.request.json(body);
        self
    }

    pub fn body(mut self, body: impl Into<reqwest::Body>) -> Self {
        self.request = self.request.header("content-type", "application/json").body(body);
        self
    }

    /// The answer, or the error of a connection that ended early.
    pub fn try_send(self) -> Result<Answer, reqwest::Error> {
        let Self { server, method, path, request } = self;
        let answer = RUNTIME.block_on(async {
            let response = request.send().await?;
            let (status, headers) = (response.status().as_u16(), response.headers().clone());
            Ok(Answer { status, headers, body: response.bytes().await?.to_vec() })
        })?;
        if answer.status == 500 {
            panic!("{method} {path}: {answer}\n{}", server.log_about(&answer.request_id()));
        }
        contract::check(&method, &path, &answer);
        Ok(answer)
    }

    pub fn send(self) -> Answer {
        let what = format!("{} {}", self.method, self.path);
        self.try_send().unwrap_or_else(|error| panic!("{what}: {error:?}"))
    }

    /// The answer as a stream of events, each with the time of its arrival.
    pub fn events(self) -> Vec<Event> {
        let request = self.request.header("accept", "text/event-stream");
        RUNTIME.block_on(events::read(request))
    }
}

impl Answer {
    /// The body, when the status is the expected one.
    #[track_caller]
    pub fn expect(&self, status: u16) -> Value {
        assert_eq!(self.status, status, "{self}");
        if self.body.is_empty() { Value::Null } else { self.json() }
    }

    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {self}"))
    }

    /// The text of a refusal.
    pub fn detail(&self) -> String {
        self.json()["detail"].as_str().unwrap_or_else(|| panic!("{self}")).to_owned()
    }

    pub fn code(&self) -> String {
        self.json()["code"].as_str().unwrap_or_else(|| panic!("{self}")).to_owned()
    }

    fn request_id(&self) -> String {
        let id = self.headers.get("x-request-id").and_then(|id| id.to_str().ok());
        id.unwrap_or("no request id").to_owned()
    }
}

impl std::fmt::Display for Answer {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{} {}", self.status, String::from_utf8_lossy(&self.body))
    }
}
