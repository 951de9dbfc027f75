//! A model on loopback that says what a test wrote down, by the API of OpenAI or of Anthropic.

use std::collections::{HashMap, VecDeque};
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;

use parking_lot::Mutex;
use serde_json::{Value, json};

use super::Latch;
use super::embedding_endpoint::{Received, read, whole};

/// Tokens of each question, and of each answer to it.
const TOKENS: [u64; 2] = [60, 40];
/// The pause that a model asks for that has too many requests.
const RETRY_AFTER: &str = "retry-after: 1\r\n";

/// An answer of the model.
#[derive(Clone)]
pub enum Reply {
    Text(String),
    /// Calls of tools with their arguments.
    Calls(Vec<(String, Value)>),
    Refuses(u16),
    /// Answers once the latch is open.
    Held(Latch, Box<Self>),
}

/// The answers to come for each objective. A run is known by its objective, with which its transcript begins.
type Scripts = Arc<Mutex<HashMap<String, VecDeque<Reply>>>>;

pub struct ModelEndpoint {
    address: SocketAddr,
    scripts: Scripts,
    received: Arc<Mutex<Vec<Received>>>,
}

impl Reply {
    pub fn call(name: &str, arguments: Value) -> Self {
        Self::Calls(vec![(name.to_owned(), arguments)])
    }

    /// The end of a run.
    pub fn complete(answer: &str) -> Self {
        Self::call("__complete__", json!({"answer": answer}))
    }
}

impl ModelEndpoint {
    pub fn serve() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address");
        let (scripts, received) = (Scripts::default(), Arc::<Mutex<Vec<Received>>>::default());
        let shared = (scripts.clone(), received.clone());
        std::thread::spawn(move || {
            for mut stream in listener.incoming().flatten() {
                let (scripts, received) = shared.clone();
                std::thread::spawn(move || {
                    let Some(request) = read(&stream) else { return };
                    received.lock().push(request.clone());
                    let (status, body) = answer(&request, next(&scripts, &request.body));
                    // The client may be gone.
                    let pause = if status == 429 { RETRY_AFTER } else { "" };
                    let _ = whole(&mut stream, status, pause, &body.to_string());
                });
            }
        });
        Self { address, scripts, received }
    }

    /// The URL of the API of OpenAI.
    pub fn url(&self) -> String {
        format!("http://{}/v1/chat/completions", self.address)
    }

    /// The URL of the API of Anthropic.
    pub fn messages_url(&self) -> String {
        format!("http://{}/v1/messages", self.address)
    }

    /// Writes down the answers of a run. The last one is given again and again.
    pub fn answers(&self, objective: &str, replies: Vec<Reply>) {
        self.scripts.lock().insert(objective.to_owned(), replies.into());
    }

    /// The requests of a run.
    pub fn received(&self, objective: &str) -> Vec<Received> {
        let all = self.received.lock();
        all.iter()
            .filter(|request| objective_of(&request.body).is_some_and(|text| text.starts_with(objective)))
            .cloned()
            .collect()
    }
}

fn objective_of(body: &Value) -> Option<String> {
    let first = body["messages"].as_array()?.iter().find(|message| message["role"] == "user")?;
    let text = first["content"].as_str().or_else(|| first["content"][0]["text"].as_str())?;
    Some(text.to_owned())
}

fn next(scripts: &Scripts, body: &Value) -> Reply {
    let mut scripts = scripts.lock();
    let text = objective_of(body).unwrap_or_default();
    let of_text = scripts.iter_mut().filter(|(objective, _)| text.starts_with(objective.as_str()));
    let script = of_text.max_by_key(|(objective, _)| objective.len());
    let Some((_, replies)) = script else { return Reply::Refuses(400) };
    let next = replies.pop_front().unwrap_or(Reply::Refuses(400));
    if replies.is_empty() {
        replies.push_back(next.clone());
    }
    next
}

fn answer(request: &Received, reply: Reply) -> (u16, Value) {
    match reply {
        Reply::Refuses(status) => (status, refusal(request)),
        Reply::Held(latch, then) => {
            latch.pass();
            answer(request, *then)
        }
        Reply::Text(text) => (200, message(request, &text, &[])),
        Reply::Calls(calls) => (200, message(request, "I think.", &calls)),
    }
}

/// Whether a request is one of the API of Anthropic.
fn is_of_anthropic(request: &Received) -> bool {
    request.head[0].contains("/messages ")
}

fn refusal(request: &Received) -> Value {
    let error = json!({"type": "api_error", "message": "a model that refuses", "param": null, "code": null});
    match is_of_anthropic(request) {
        true => json!({"type": "error", "error": error, "request_id": "req_1"}),
        false => json!({"error": error}),
    }
}

/// An answer as the APIs have it: `agent_runs::sdks` reads it with the SDKs of both.
fn message(request: &Received, text: &str, calls: &[(String, Value)]) -> Value {
    let number = request.body["messages"].as_array().map_or(0, Vec::len);
    let calls = calls.iter().enumerate().map(|(index, call)| (format!("call_{number}_{index}"), call));
    let ([read, written], model) = (TOKENS, &request.body["model"]);
    if is_of_anthropic(request) {
        let uses = calls.map(|(id, (name, input))| json!({"type": "tool_use", "id": id, "name": name, "input": input}));
        let content: Vec<_> = std::iter::once(json!({"type": "text", "text": text})).chain(uses).collect();
        return json!({
            "id": format!("msg_{number}"), "type": "message", "role": "assistant", "model": model,
            "stop_reason": if content.len() > 1 { "tool_use" } else { "end_turn" }, "stop_sequence": null,
            "content": content, "usage": {"input_tokens": read, "output_tokens": written},
        });
    }
    let uses = calls.map(|(id, (name, input))| {
        json!({"id": id, "type": "function", "function": {"name": name, "arguments": input.to_string()}})
    });
    let uses: Vec<_> = uses.collect();
    let reason = if uses.is_empty() { "stop" } else { "tool_calls" };
    let mut message = json!({"role": "assistant", "content": text, "refusal": null});
    if !uses.is_empty() {
        message["tool_calls"] = json!(uses);
    }
    json!({
        "id": format!("chatcmpl-{number}"), "object": "chat.completion", "created": 1_795_000_000, "model": model,
        "choices": [{"index": 0, "message": message, "logprobs": null, "finish_reason": reason}],
        "usage": {"prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written},
    })
}
