//! A plain HTTP client. It checks every response against the contract and the OpenAPI document before a test gets it.

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
    // Another test may have installed a provider first, which is as good.
    let _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::builder().no_proxy().redirect(reqwest::redirect::Policy::none()).build().expect("a client")
});

/// A request that is not sent yet.
pub struct Request<'a> {
    /// The server whose log is shown with a 5xx response.
    server: Option<&'a Server>,
    request: reqwest::RequestBuilder,
}

/// A response.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub headers: HeaderMap,
    pub body: Vec<u8>,
}

/// Returns the text at a URL.
pub fn fetch(url: &str) -> String {
    let text = async { CLIENT.get(url).send().await?.error_for_status()?.text().await };
    RUNTIME.block_on(text).unwrap_or_else(|error| panic!("{url}: {error}"))
}

impl<'a> Request<'a> {
    pub fn new(server: &'a Server, method: &str, path: &str) -> Self {
        Self { server: Some(server), ..Self::to(&server.url, method, path) }
    }

    /// A request to a server in this process.
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

    /// Sets the fields of a form as the body.
    pub fn form(self, fields: &[(String, String)]) -> Self {
        let encoded = reqwest::Url::parse_with_params("http://form", fields).expect("fields");
        let body = encoded.query().unwrap_or_default().to_owned();
        self.header("content-type", "application/x-www-form-urlencoded").plain_body(body)
    }

    pub fn json(mut self, body: &Value) -> Self {
        self.request = self.request.json(body);
        self
    }

    pub fn body(mut self, body: impl Into<reqwest::Body>) -> Self {
        self.request = self.request.header("content-type", "application/json").body(body);
        self
    }

    /// Sets a body with this content type.
    pub fn plain_body(mut self, body: impl Into<reqwest::Body>) -> Self {
        self.request = self.request.body(body);
        self
    }

    /// Returns the response, or the error of a connection that ended early.
    pub fn try_send(self) -> Result<Answer, reqwest::Error> {
        let server = self.server;
        let (sent, answer) = self.exchange()?;
        if answer.status == 500 {
            let log = server.map(|server| server.log_about(&answer.request_id()));
            panic!("{sent}: {answer}\n{}", log.unwrap_or_default());
        }
        check(&sent, &answer);
        Ok(answer)
    }

    /// Like [`Request::try_send`], to a server whose disk fails: a response of 500 is allowed.
    pub fn try_send_to_failing(self) -> Result<Answer, reqwest::Error> {
        let (sent, answer) = self.exchange()?;
        if answer.status != 500 {
            check(&sent, &answer);
        }
        Ok(answer)
    }

    /// Sends the request to a proxy. `None` when no server answered it.
    pub fn try_send_by_proxy(self) -> Option<Answer> {
        let (sent, answer) = self.exchange().ok()?;
        if matches!(answer.status, 502 | 504) {
            return None;
        }
        check(&sent, &answer);
        Some(answer)
    }

    /// Sends a message of another protocol, whose responses the contract and the document do not describe.
    pub fn send_message(self) -> Answer {
        let (sent, answer) = self.exchange().unwrap_or_else(|error| panic!("{error:?}"));
        assert_ne!(answer.status, 500, "{sent}: {answer}");
        answer
    }

    fn exchange(self) -> Result<(Sent, Answer), reqwest::Error> {
        let request = self.request.build()?;
        let sent = Sent::of(&request);
        let answer = RUNTIME.block_on(async {
            let response = CLIENT.execute(request).await?;
            let (status, headers) = (response.status().as_u16(), response.headers().clone());
            Ok(Answer { status, headers, body: response.bytes().await?.to_vec() })
        });
        answer.map(|answer| (sent, answer))
    }

    pub fn send(self) -> Answer {
        self.try_send().unwrap_or_else(|error| panic!("{error:?}"))
    }

    /// Sends only the head, with a content length but no body, and returns the response.
    pub fn announced(self, body_bytes: u64) -> Answer {
        let request = self.request.build().expect("a request");
        let answer = raw::exchange(&request, body_bytes);
        contract::check(&Sent::of(&request), &answer);
        answer
    }

    /// Returns the response as an event stream.
    pub fn events(self) -> Vec<Event> {
        let request = self.request.header("accept", "text/event-stream").build().expect("a request");
        let sent = Sent::of(&request);
        let events = RUNTIME.block_on(async {
            let answer = CLIENT.execute(request).await.expect("an answer");
            is_protected(&sent, answer.status().as_u16(), answer.headers());
            events::read(answer).await
        });
        events
            .iter()
            .filter(|event| event.name == "result")
            .for_each(|event| contract::check_result(&sent, &event.data));
        events
    }
}

/// Checks a response against the contract and the OpenAPI document.
fn check(sent: &Sent, answer: &Answer) {
    is_protected(sent, answer.status, &answer.headers);
    contract::check(sent, answer);
    document::check(&sent.method, &sent.path, &answer.answered());
}

/// Asserts that only pages of the reference may be cached, and that no content type may be sniffed.
fn is_protected(sent: &Sent, status: u16, headers: &HeaderMap) {
    let value = |name: &str| headers.get(name).map(|value| value.to_str().expect("text"));
    let is_public = status == 200 && (sent.path == "/docs" || sent.path.starts_with("/docs/"));
    assert_eq!(value("x-content-type-options"), Some("nosniff"), "{sent}: {headers:?}");
    assert_eq!(value("cache-control"), Some(if is_public { "max-age=300" } else { "no-store" }), "{sent}: {headers:?}");
}

impl Answer {
    /// Returns the body after checking the status.
    #[track_caller]
    pub fn expect(&self, status: u16) -> Value {
        assert_eq!(self.status, status, "{self}");
        if self.body.is_empty() { Value::Null } else { self.json() }
    }

    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {self}"))
    }

    /// Returns the `detail` of an error.
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
