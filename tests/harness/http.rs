//! A plain HTTP client. Every answer is checked against the contract and the service's own document before a test
//! sees it.

use std::sync::LazyLock;

use reqwest::header::HeaderMap;
use serde_json::Value;
use tokio::runtime::Runtime;

use super::contract::{self, Sent};
use super::document::{self, Answered};
use super::{Event, Server, events, raw};

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
    /// Whose log explains a fault.
    server: Option<&'a Server>,
    request: reqwest::RequestBuilder,
}

/// What came back.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub headers: HeaderMap,
    pub body: Vec<u8>,
}

/// The text at any address.
pub fn fetch(url: &str) -> String {
    let text = async { CLIENT.get(url).send().await?.error_for_status()?.text().await };
    RUNTIME.block_on(text).unwrap_or_else(|error| panic!("{url}: {error}"))
}

impl<'a> Request<'a> {
    pub fn new(server: &'a Server, method: &str, path: &str) -> Self {
        Self { server: Some(server), ..Self::to(&server.url, method, path) }
    }

    /// A request to a server that is no process of its own.
    pub fn to(url: &str, method: &str, path: &str) -> Self {
        let request = CLIENT.request(method.parse().expect("a method"), format!("{url}{path}"));
        Self { server: None, request }
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

    /// A body of a kind that a header names.
    pub fn plain_body(mut self, body: impl Into<reqwest::Body>) -> Self {
        self.request = self.request.body(body);
        self
    }

    /// The answer, or the error of a connection that ended early.
    pub fn try_send(self) -> Result<Answer, reqwest::Error> {
        let request = self.request.build()?;
        let sent = Sent::of(&request);
        let answer = RUNTIME.block_on(async {
            let response = CLIENT.execute(request).await?;
            let (status, headers) = (response.status().as_u16(), response.headers().clone());
            Ok(Answer { status, headers, body: response.bytes().await?.to_vec() })
        })?;
        if answer.status == 500 {
            let log = self.server.map(|server| server.log_about(&answer.request_id()));
            panic!("{sent}: {answer}\n{}", log.unwrap_or_default());
        }
        contract::check(&sent, &answer);
        document::check(&sent.method, &sent.path, &answer.answered());
        Ok(answer)
    }

    pub fn send(self) -> Answer {
        self.try_send().unwrap_or_else(|error| panic!("{error:?}"))
    }

    /// The answer to the head alone, which announces a body of so many bytes that is never sent.
    pub fn announced(self, body_bytes: u64) -> Answer {
        let request = self.request.build().expect("a request");
        let answer = raw::exchange(&request, body_bytes);
        contract::check(&Sent::of(&request), &answer);
        answer
    }

    /// The answer as a stream of events, each with the time of its arrival.
    pub fn events(self) -> Vec<Event> {
        let request = self.request.header("accept", "text/event-stream").build().expect("a request");
        let sent = Sent::of(&request);
        let events = RUNTIME.block_on(async { events::read(CLIENT.execute(request).await.expect("an answer")).await });
        events
            .iter()
            .filter(|event| event.name == "result")
            .for_each(|event| contract::check_result(&sent, &event.data));
        events
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

    pub fn is_json(&self) -> bool {
        self.headers.get("content-type").is_some_and(|kind| kind.as_bytes().starts_with(b"application/json"))
    }

    fn answered(&self) -> Answered<'_> {
        let content_type = self.headers.get("content-type").map_or("", |value| value.to_str().expect("text"));
        Answered { status: self.status, content_type, body: &self.body }
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
