//! Forwards messages between a client at the standard streams and a server over HTTP.
//!
//! Each message is one POST. The responses and the notifications that belong to it come back as JSON or as an event stream. A
//! client of an earlier protocol version has a session, whose other notifications come in a stream of their own.
//!
//! A client may write many messages at once. Each is sent when the server has the one before it ([`Turn`]), since a session begins with the answer
//! to its first message, and a cancellation follows its request. Requests without a session do not depend on each other, and are sent at the same
//! time. A session that the server has ended is begun anew, for its client cannot know that there is one.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::io::Write as _;
use std::pin::pin;

use futures_util::StreamExt;
use futures_util::future::{AbortHandle, Abortable};
use registry::json_line;
use reqwest::header::{ACCEPT, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Response, StatusCode};
use serde_json::{Value, json};
use tokio::sync::{Mutex, Notify, Semaphore, oneshot};

use crate::client::{Client, read_events};

const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
const VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
const METHOD: HeaderName = HeaderName::from_static("mcp-method");
const NAME: HeaderName = HeaderName::from_static("mcp-name");
/// The version in `_meta` of a message, which clients of the present protocol send.
const META_VERSION: &str = "io.modelcontextprotocol/protocolVersion";
/// The code of an error of the server or of the way to it.
const INTERNAL_ERROR: i64 = -32603;
/// The methods of the messages that begin a session.
const INITIALIZE: &str = "initialize";
const INITIALIZED: &str = "notifications/initialized";
/// Requests that wait for their answers at the same time. Each has a connection, of which a server accepts some hundred from one address.
const REQUESTS_MAX: usize = 64;

/// A connection of one client.
pub struct Bridge<'a> {
    client: &'a Client,
    agent: String,
    session: RefCell<Session>,
    /// Ends when the last message was sent.
    last: RefCell<Option<oneshot::Receiver<()>>>,
    requests: Semaphore,
    /// Held while a session is begun anew.
    renewing: Mutex<()>,
    renewed: Notify,
    is_closed: Cell<bool>,
}

/// The session of a client, its protocol version, and its requests in progress.
#[derive(Default)]
struct Session {
    id: Option<HeaderValue>,
    version: Option<HeaderValue>,
    /// The message that began the session.
    first: Option<String>,
    /// Requests in progress, by their id. `None` is the stream of the session.
    running: HashMap<Option<String>, AbortHandle>,
}

/// The place of a message in the order in which its client wrote them.
pub struct Turn {
    before: Option<oneshot::Receiver<()>>,
    /// Its end lets the next message go.
    sent: oneshot::Sender<()>,
}

impl<'a> Bridge<'a> {
    pub fn new(client: &'a Client, agent: String) -> Self {
        Self {
            client,
            agent,
            session: RefCell::default(),
            last: RefCell::default(),
            requests: Semaphore::new(REQUESTS_MAX),
            renewing: Mutex::default(),
            renewed: Notify::new(),
            is_closed: Cell::new(false),
        }
    }

    /// Returns the turn of the next message.
    pub fn begin_turn(&self) -> Turn {
        let (sent, ended) = oneshot::channel();
        Turn { before: self.last.replace(Some(ended)), sent }
    }

    /// Sends one message and writes everything that comes back. The message that completes the start of a session is followed by the
    /// notifications of the session.
    pub async fn forward(&self, line: String, turn: Turn) -> anyhow::Result<()> {
        let message: Value = serde_json::from_str(&line).unwrap_or_default();
        let id = message.get("id").filter(|_| message.get("method").is_some()).cloned();
        let Turn { before, sent } = turn;
        if let Some(before) = before {
            // An error is the end of a message that was not sent.
            let _ = before.await;
        }
        if self.cancel_request(&message) {
            return Ok(());
        }
        match id.as_ref().map(Value::to_string) {
            Some(number) => self.run_abortable(Some(number), self.send_request(&message, &line, sent)).await,
            None => self.notify(&message, &line, sent).await,
        }
    }

    /// Sends a request. Its failure is its answer.
    async fn send_request(&self, message: &Value, line: &str, sent: oneshot::Sender<()>) -> anyhow::Result<()> {
        let begins_session = message["method"] == INITIALIZE;
        let in_session = begins_session || self.session.borrow().id.is_some();
        let mut sent = Some(sent).filter(|_| in_session);
        let permit = match self.requests.try_acquire() {
            Ok(permit) => permit,
            Err(_) => {
                // Answers of the client, for which requests may wait, follow.
                sent = None;
                self.requests.acquire().await?
            }
        };
        let answered = match self.send_in_session(message, line).await {
            Ok(response) => {
                if !begins_session {
                    sent = None;
                }
                self.forward_answer(message, response).await
            }
            Err(error) => answer_refusal(message.get("id"), format!("{error:#}")),
        };
        if begins_session {
            self.session.borrow_mut().first = Some(line.to_owned());
        }
        drop((sent, permit));
        answered
    }

    /// Sends a notification, or the answer to a question of the server. A refusal of it has no reader.
    async fn notify(&self, message: &Value, line: &str, sent: oneshot::Sender<()>) -> anyhow::Result<()> {
        let exchanged = self.send_in_session(message, line).await;
        drop(sent);
        if let Ok(response) = exchanged {
            self.forward_answer(message, response).await?;
        }
        let has_begun = message["method"] == INITIALIZED && self.session.borrow().id.is_some();
        if has_begun { self.listen().await } else { Ok(()) }
    }

    /// Sends a message. If the server does not know the session any more, begins another one and sends it again.
    async fn send_in_session(&self, message: &Value, line: &str) -> anyhow::Result<Response> {
        let used = self.session.borrow().id.clone().filter(|_| message["method"] != INITIALIZE);
        let response = self.client.exchange(&self.agent, &self.build_headers(message), Some(line)).await?;
        let Some(used) = used.filter(|_| response.status() == StatusCode::NOT_FOUND) else { return Ok(response) };
        if !self.renew(&used).await? {
            return Ok(response);
        }
        self.client.exchange(&self.agent, &self.build_headers(message), Some(line)).await
    }

    /// Begins a session anew in the place of one that has ended, as its client began that one. Returns whether there is another session.
    async fn renew(&self, ended: &HeaderValue) -> anyhow::Result<bool> {
        let _alone = self.renewing.lock().await;
        let (id, first) = (self.session.borrow().id.clone(), self.session.borrow().first.clone());
        if id.as_ref() != Some(ended) {
            return Ok(id.is_some());
        }
        let Some(first) = first else { return Ok(false) };
        let message: Value = serde_json::from_str(&first)?;
        let response = self.client.exchange(&self.agent, &self.build_headers(&message), Some(&first)).await?;
        if !response.status().is_success() {
            return Ok(false);
        }
        self.note_session(&response);
        // The client has had the answer to its own message.
        read_answers(response, |_| Ok(())).await?;
        let initialized = json!({"jsonrpc": "2.0", "method": INITIALIZED});
        self.client.exchange(&self.agent, &self.build_headers(&initialized), Some(&initialized.to_string())).await?;
        self.renewed.notify_waiters();
        Ok(true)
    }

    /// Writes the notifications of the session, and of the sessions that follow it. A server without such a stream refuses it, which changes
    /// nothing.
    async fn listen(&self) -> anyhow::Result<()> {
        let listening = async {
            loop {
                let renewed = self.renewed.notified();
                let mut headers = self.build_headers(&Value::Null);
                headers.insert(ACCEPT, HeaderValue::from_static("text/event-stream"));
                match self.client.exchange(&self.agent, &headers, None).await {
                    Ok(response) if response.status().is_success() => read_answers(response, write).await?,
                    _ => {}
                }
                renewed.await;
            }
        };
        if self.is_closed.get() {
            return Ok(());
        }
        self.run_abortable(None, listening).await
    }

    /// Ends the stream of the session.
    pub fn close(&self) {
        self.is_closed.set(true);
        if let Some(stream) = self.session.borrow().running.get(&None) {
            stream.abort();
        }
    }

    async fn run_abortable(
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
    fn cancel_request(&self, message: &Value) -> bool {
        let session = self.session.borrow();
        if message["method"] != "notifications/cancelled" || session.id.is_some() {
            return false;
        }
        if let Some(running) = session.running.get(&Some(message["params"]["requestId"].to_string())) {
            running.abort();
        }
        true
    }

    fn build_headers(&self, message: &Value) -> HeaderMap {
        let session = self.session.borrow();
        let mut headers = HeaderMap::new();
        headers.insert(ACCEPT, HeaderValue::from_static("application/json, text/event-stream"));
        if message["method"] == INITIALIZE {
            return headers;
        }
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

    fn note_session(&self, response: &Response) {
        if let Some(session) = response.headers().get(&SESSION) {
            self.session.borrow_mut().id = Some(session.clone());
        }
    }

    /// Notes the protocol version on which client and server have agreed.
    fn note_version(&self, answer: &str) {
        let answer: Value = serde_json::from_str(answer).unwrap_or_default();
        let version = answer["result"]["protocolVersion"].as_str();
        if let Some(version) = version.and_then(|version| HeaderValue::from_str(version).ok()) {
            self.session.borrow_mut().version = Some(version);
        }
    }

    async fn forward_answer(&self, message: &Value, response: Response) -> anyhow::Result<()> {
        self.note_session(&response);
        let (status, id) = (response.status(), message.get("id").filter(|_| message.get("method").is_some()));
        if status == StatusCode::ACCEPTED {
            return Ok(());
        }
        let begins_session = message["method"] == INITIALIZE;
        let show = |answer: String| {
            if begins_session {
                self.note_version(&answer);
            }
            write(answer)
        };
        if read_content_type(&response).starts_with("text/event-stream") {
            return read_answers(response, show).await;
        }
        let text = response.text().await?;
        match serde_json::from_str::<Value>(&text) {
            Ok(mut answer) if answer["jsonrpc"] == "2.0" => match (answer["id"].is_null(), id) {
                (false, _) => show(text),
                // A refusal of what the server could not read.
                (true, None) if message.is_null() => show(text),
                (true, None) => Ok(()),
                // The server refused the request before it read its id, for which the client waits.
                (true, Some(id)) => {
                    answer["id"] = id.clone();
                    show(answer.to_string())
                }
            },
            _ => answer_refusal(id, format!("the server answered {status}: {}", text.trim())),
        }
    }
}

fn read_content_type(response: &Response) -> String {
    let value = response.headers().get("content-type").and_then(|value| value.to_str().ok());
    value.unwrap_or_default().to_owned()
}

/// Passes on the messages of a response.
async fn read_answers(response: Response, show: impl Fn(String) -> anyhow::Result<()>) -> anyhow::Result<()> {
    let mut received = pin!(read_events(response.bytes_stream()));
    while let Some(event) = received.next().await {
        let data = event?.data;
        if serde_json::from_str::<Value>(&data).is_ok() {
            show(data)?;
        }
    }
    Ok(())
}

/// Answers a request that the server did not answer. Notifications have no answers.
fn answer_refusal(id: Option<&Value>, message: String) -> anyhow::Result<()> {
    match id {
        Some(id) => {
            let error = json!({"jsonrpc": "2.0", "id": id, "error": {"code": INTERNAL_ERROR, "message": message}});
            write(error.to_string())
        }
        None => Ok(()),
    }
}

/// Writes one message as a line, as the server wrote it unless it has several lines.
fn write(message: String) -> anyhow::Result<()> {
    let message = match message.contains(['\n', '\r']) {
        true => serde_json::from_str::<Value>(&message)?.to_string(),
        false => message,
    };
    let mut output = std::io::stdout().lock();
    writeln!(output, "{}", json_line(&message))?;
    Ok(output.flush()?)
}
