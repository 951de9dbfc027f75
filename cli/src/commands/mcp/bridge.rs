//! Forwards messages between a client at the standard streams and a server over HTTP.
//!
//! Each message is one POST. The responses and the notifications that belong to it come back as JSON or as an event stream. A
//! client of an earlier protocol version has a session, whose other notifications come in a stream of their own.

use std::cell::RefCell;
use std::collections::HashMap;
use std::io::Write as _;
use std::pin::pin;

use futures_util::StreamExt;
use futures_util::future::{AbortHandle, Abortable};
use registry::json_line;
use reqwest::header::{ACCEPT, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Response, StatusCode};
use serde_json::{Value, json};

use crate::client::{Client, events};

const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
const VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
const METHOD: HeaderName = HeaderName::from_static("mcp-method");
const NAME: HeaderName = HeaderName::from_static("mcp-name");
/// The version in `_meta` of a message, which clients of the present protocol send.
const META_VERSION: &str = "io.modelcontextprotocol/protocolVersion";
/// The code of an error of the server or of the way to it.
const INTERNAL_ERROR: i64 = -32603;

/// A connection of one client.
pub struct Bridge<'a> {
    client: &'a Client,
    agent: String,
    session: RefCell<Session>,
}

/// The session of a client, its protocol version, and its requests in progress.
#[derive(Default)]
struct Session {
    id: Option<HeaderValue>,
    version: Option<HeaderValue>,
    /// Requests in progress, by their id. `None` is the stream of the session.
    running: HashMap<Option<String>, AbortHandle>,
}

impl<'a> Bridge<'a> {
    pub fn new(client: &'a Client, agent: String) -> Self {
        Self { client, agent, session: RefCell::default() }
    }

    /// Whether the message completes the start of a session, after which the server sends notifications.
    pub fn opens_stream(&self, line: &str) -> bool {
        let message: Value = serde_json::from_str(line).unwrap_or_default();
        message["method"] == "notifications/initialized" && self.session.borrow().id.is_some()
    }

    /// Sends one message and writes everything that comes back.
    pub async fn forward(&self, line: String) -> anyhow::Result<()> {
        let message: Value = serde_json::from_str(&line).unwrap_or_default();
        if self.cancels(&message) {
            return Ok(());
        }
        let id = message.get("id").filter(|_| message.get("method").is_some()).cloned();
        let exchange = async {
            match self.client.exchange(&self.agent, &self.headers(&message), Some(&line)).await {
                Ok(response) => self.answered(&message, response).await,
                Err(error) => refused(id.as_ref(), format!("{error:#}")),
            }
        };
        match id.as_ref().map(Value::to_string) {
            Some(id) => self.abortable(Some(id), exchange).await,
            None => exchange.await,
        }
    }

    /// Writes the notifications of the session. A server without such a stream refuses it, which changes nothing.
    pub async fn listen(&self) -> anyhow::Result<()> {
        let listening = async {
            let mut headers = self.headers(&Value::Null);
            headers.insert(ACCEPT, HeaderValue::from_static("text/event-stream"));
            match self.client.exchange(&self.agent, &headers, None).await {
                Ok(response) if response.status().is_success() => copy_events(response).await,
                _ => Ok(()),
            }
        };
        self.abortable(None, listening).await
    }

    /// Ends the stream of the session.
    pub fn close(&self) {
        if let Some(stream) = self.session.borrow().running.get(&None) {
            stream.abort();
        }
    }

    async fn abortable(
        &self,
        id: Option<String>,
        work: impl Future<Output = anyhow::Result<()>>,
    ) -> anyhow::Result<()> {
        let (handle, registration) = AbortHandle::new_pair();
        self.session.borrow_mut().running.insert(id.clone(), handle);
        let ended = Abortable::new(work, registration).await;
        self.session.borrow_mut().running.remove(&id);
        ended.unwrap_or(Ok(()))
    }

    /// Ends a request that the client cancels. Without a session, the end of its connection is the cancellation.
    fn cancels(&self, message: &Value) -> bool {
        let session = self.session.borrow();
        if message["method"] != "notifications/cancelled" || session.id.is_some() {
            return false;
        }
        if let Some(running) = session.running.get(&Some(message["params"]["requestId"].to_string())) {
            running.abort();
        }
        true
    }

    fn headers(&self, message: &Value) -> HeaderMap {
        let session = self.session.borrow();
        let mut headers = HeaderMap::new();
        headers.insert(ACCEPT, HeaderValue::from_static("application/json, text/event-stream"));
        let text = |value: &Value| value.as_str().and_then(|text| HeaderValue::from_str(text).ok());
        let own_version = text(&message["params"]["_meta"][META_VERSION]);
        if own_version.is_some() {
            let name = text(&message["params"]["name"]).or_else(|| text(&message["params"]["uri"]));
            headers.extend(text(&message["method"]).map(|method| (METHOD, method)));
            headers.extend(name.map(|name| (NAME, name)));
        }
        headers.extend(own_version.or_else(|| session.version.clone()).map(|version| (VERSION, version)));
        headers.extend(session.id.clone().map(|id| (SESSION, id)));
        headers
    }

    async fn answered(&self, message: &Value, response: Response) -> anyhow::Result<()> {
        if let Some(session) = response.headers().get(&SESSION) {
            let version = message["params"]["protocolVersion"].as_str();
            let mut known = self.session.borrow_mut();
            known.id = Some(session.clone());
            known.version = version.and_then(|version| HeaderValue::from_str(version).ok());
        }
        let (status, kind) = (response.status(), content_type(&response));
        if status == StatusCode::ACCEPTED {
            return Ok(());
        }
        if kind.starts_with("text/event-stream") {
            return copy_events(response).await;
        }
        let text = response.text().await?;
        match serde_json::from_str::<Value>(&text) {
            Ok(mut answer) if answer["jsonrpc"] == "2.0" => {
                // The server does not read the id of a message that it cannot read. The client waits for an answer to it.
                if let Some(id) = message.get("id").filter(|_| answer["id"].is_null() && !answer["error"].is_null()) {
                    answer["id"] = id.clone();
                }
                write(&answer)
            }
            _ => refused(message.get("id"), format!("the server answered {status}: {}", text.trim())),
        }
    }
}

fn content_type(response: &Response) -> String {
    let value = response.headers().get("content-type").and_then(|value| value.to_str().ok());
    value.unwrap_or_default().to_owned()
}

async fn copy_events(response: Response) -> anyhow::Result<()> {
    let mut received = pin!(events(response.bytes_stream()));
    while let Some(event) = received.next().await {
        let data = event?.data;
        if let Ok(message) = serde_json::from_str(&data) {
            write(&message)?;
        }
    }
    Ok(())
}

/// Answers a request that the server did not answer. Notifications have no answers.
fn refused(id: Option<&Value>, message: String) -> anyhow::Result<()> {
    match id {
        Some(id) => write(&json!({"jsonrpc": "2.0", "id": id, "error": {"code": INTERNAL_ERROR, "message": message}})),
        None => Ok(()),
    }
}

/// Writes one message as a line.
fn write(message: &Value) -> anyhow::Result<()> {
    let mut output = std::io::stdout().lock();
    writeln!(output, "{}", json_line(&message.to_string()))?;
    Ok(output.flush()?)
}
