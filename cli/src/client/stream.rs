//! A streamed response: build steps, log lines, status events, then one result or one error.

use std::pin::pin;

use api::wire::{BuildLog, BuildStep, StatusEvent};
use bytes::Bytes;
use futures_util::stream::try_unfold;
use futures_util::{Stream, TryStreamExt};
use reqwest::Response;
use reqwest::header::CONTENT_TYPE;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::decoded_response::DecodedResponse;
use super::refusal::{explain_unexpected, find_root_cause, render_detail};
use super::sse::{NamedEvent, SseError, read_events};
use crate::failure::Failure;

#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    Step(BuildStep),
    Log(BuildLog),
    Status(StatusEvent),
    Result(Value),
    Error {
        status: u16,
        code: String,
        detail: String,
        build_id: Option<String>,
    },
    Done,
    /// An event that only newer releases know.
    Unknown,
}

/// The response to a call that streams.
pub struct EventStream {
    response: Response,
    url: String,
}

impl EventStream {
    pub fn new(response: Response) -> Self {
        Self { url: response.url().to_string(), response }
    }

    /// Passes every event to `show` and returns the result. A server that does not stream answers with the result
    /// alone.
    pub async fn follow<T: DeserializeOwned>(self, mut show: impl FnMut(&Event)) -> anyhow::Result<DecodedResponse<T>> {
        let Self { response, url } = self;
        if !is_event_stream(&response) {
            let document: Value = response.json().await.map_err(|error| explain_unexpected(&url, error))?;
            return DecodedResponse::read(document, &url);
        }
        let mut events = pin!(read_events(read_chunks(response)));
        let mut result = None;
        while let Some(event) = events.try_next().await.map_err(|error| explain_broken(&url, &error))? {
            let event = read_event(&event).map_err(|error| explain_unexpected(&url, error))?;
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
        let document = result.ok_or_else(|| explain_lost_connection(&url, "the stream ended".to_owned()))?;
        DecodedResponse::read(document, &url)
    }
}

fn read_chunks(response: Response) -> impl Stream<Item = reqwest::Result<Bytes>> {
    try_unfold(response, |mut response| async move {
        let chunk = response.chunk().await;
        chunk.map(|chunk| chunk.map(|chunk| (chunk, response)))
    })
}

fn is_event_stream(response: &Response) -> bool {
    let content_type = response.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    content_type.unwrap_or_default().starts_with("text/event-stream")
}

fn explain_broken(url: &str, error: &SseError<reqwest::Error>) -> Failure {
    match error {
        SseError::Transport(error) => explain_lost_connection(url, find_root_cause(error)),
        other => explain_unexpected(url, other),
    }
}

fn explain_lost_connection(url: &str, reason: String) -> Failure {
    Failure::ConnectionLost { url: url.to_owned(), reason }
}

fn read_event(event: &NamedEvent) -> Result<Event, serde_json::Error> {
    let data = event.data.as_str();
    Ok(match event.name.as_str() {
        "step" => Event::Step(serde_json::from_str(data)?),
        "log" => Event::Log(serde_json::from_str(data)?),
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
        detail: render_detail(data.get("detail")).unwrap_or_else(|| "the server gave no reason".to_owned()),
        build_id: data["build_id"].as_str().map(str::to_owned),
    }
}

#[cfg(test)]
mod tests {
    use api::wire::BuildStepState;

    use super::*;

    fn read(event: &str, data: &str) -> Event {
        read_event(&NamedEvent { name: event.to_owned(), data: data.to_owned() }).expect("a valid event")
    }

    #[test]
    fn every_event_is_read() {
        assert_eq!(
            read("step", r#"{"name":"compile","state":"finished","duration_ms":7}"#),
            Event::Step(BuildStep {
                name: "compile".to_owned(),
                state: BuildStepState::Finished,
                duration_ms: Some(7)
            })
        );
        assert_eq!(read("log", r#"{"line":"x"}"#), Event::Log(BuildLog { line: "x".to_owned() }));
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
