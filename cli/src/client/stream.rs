//! A streamed answer: build steps, log lines, status events, then one result or one error.

use std::collections::VecDeque;

use reqwest::Response;
use reqwest::header::CONTENT_TYPE;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::request::{detail_text, root_cause, strange};
use super::sse::{Frame, Parser};
use super::wire::Answer;
use crate::failure::Failure;

#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    Step {
        name: String,
        state: StepState,
        duration_ms: Option<u64>,
    },
    Log {
        line: String,
    },
    Status(Status),
    Result(Value),
    Error {
        status: u16,
        code: String,
        detail: String,
        build_id: Option<String>,
    },
    Done,
    /// An event of a newer server.
    Unknown,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum StepState {
    Started,
    Finished,
}

/// What a tool says while it runs.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Status {
    pub invocation_id: Option<String>,
    /// Counted from 0, in the order of the inputs.
    pub input_index: usize,
    pub message: String,
    pub progress: Option<f64>,
    pub total: Option<f64>,
    pub data: Option<Value>,
}

#[derive(Deserialize)]
struct StepData {
    name: String,
    state: StepState,
    duration_ms: Option<u64>,
}

#[derive(Deserialize)]
struct LogData {
    line: String,
}

pub struct EventStream {
    response: Response,
    url: String,
    parser: Parser,
    waiting: VecDeque<Frame>,
    is_plain: bool,
}

impl EventStream {
    pub fn new(response: Response) -> Self {
        let content_type = response.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
        Self {
            is_plain: !content_type.unwrap_or_default().starts_with("text/event-stream"),
            url: response.url().to_string(),
            response,
            parser: Parser::default(),
            waiting: VecDeque::new(),
        }
    }

    /// Shows every event to `show` and returns the result. A server that does not stream answers with the result alone.
    pub async fn follow<T: DeserializeOwned>(mut self, mut show: impl FnMut(&Event)) -> anyhow::Result<Answer<T>> {
        if self.is_plain {
            let url = self.url;
            let document: Value = self.response.json().await.map_err(|error| strange(&url, &error))?;
            return Answer::read(document, &url);
        }
        let mut result = None;
        while let Some(event) = self.next().await? {
            show(&event);
            match event {
                Event::Error { status, code, detail, build_id } => {
                    return Err(Failure::Server { status, code, detail, build_id }.into());
                }
                Event::Result(document) => result = Some(document),
                Event::Done => break,
                _ => {}
            }
        }
        let document = result.ok_or_else(|| cut_off(&self.url, "the stream ended".to_owned()))?;
        Answer::read(document, &self.url)
    }

    async fn next(&mut self) -> anyhow::Result<Option<Event>> {
        loop {
            if let Some(frame) = self.waiting.pop_front() {
                return read_event(&frame).map(Some).map_err(|error| strange(&self.url, &error).into());
            }
            let chunk = self.response.chunk().await.map_err(|error| cut_off(&self.url, root_cause(&error)))?;
            let Some(bytes) = chunk else { return Ok(None) };
            self.waiting.extend(self.parser.push(&bytes).map_err(|error| strange(&self.url, &error))?);
        }
    }
}

/// Whatever was begun is not ended with the connection.
fn cut_off(url: &str, reason: String) -> Failure {
    Failure::CutOff { url: url.to_owned(), reason }
}

fn read_event(frame: &Frame) -> Result<Event, serde_json::Error> {
    let data = frame.data.as_str();
    Ok(match frame.event.as_str() {
        "step" => {
            let StepData { name, state, duration_ms } = serde_json::from_str(data)?;
            Event::Step { name, state, duration_ms }
        }
        "log" => Event::Log { line: serde_json::from_str::<LogData>(data)?.line },
        "status" => Event::Status(serde_json::from_str(data)?),
        "result" => Event::Result(serde_json::from_str(data)?),
        "error" => read_error(&serde_json::from_str(data)?),
        "done" => Event::Done,
        _ => Event::Unknown,
    })
}

fn read_error(data: &Value) -> Event {
    let status = data["status"].as_u64().and_then(|status| u16::try_from(status).ok());
    Event::Error {
        status: status.unwrap_or_default(),
        code: data["code"].as_str().unwrap_or_default().to_owned(),
        detail: detail_text(data.get("detail")).unwrap_or_else(|| "the server gave no reason".to_owned()),
        build_id: data["build_id"].as_str().map(str::to_owned),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(event: &str, data: &str) -> Event {
        read_event(&Frame { event: event.to_owned(), data: data.to_owned() }).expect("a valid event")
    }

    #[test]
    fn every_event_is_read() {
        assert_eq!(
            read("step", r#"{"name":"compile","state":"finished","duration_ms":7}"#),
            Event::Step { name: "compile".to_owned(), state: StepState::Finished, duration_ms: Some(7) }
        );
        assert_eq!(read("log", r#"{"line":"x"}"#), Event::Log { line: "x".to_owned() });
        assert!(
            matches!(read("status", r#"{"invocation_id":"a","input_index":3,"message":"m"}"#), Event::Status(status) if status.input_index == 3)
        );
        assert_eq!(
            read("error", r#"{"status":409,"code":"busy","detail":"publish runs","build_id":"b1"}"#),
            Event::Error {
                status: 409,
                code: "busy".to_owned(),
                detail: "publish runs".to_owned(),
                build_id: Some("b1".to_owned())
            }
        );
        assert_eq!(read("done", "{}"), Event::Done);
        assert_eq!(read("later", "?"), Event::Unknown);
    }
}
