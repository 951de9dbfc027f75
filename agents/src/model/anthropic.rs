//! The messages of Anthropic.

use bytes::Bytes;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::request_body::RequestBody;
use super::transcript::{ModelCall, ModelRequest, Reply, ToolDefinition, TranscriptEntry, mark_cut_off};

/// The version of the API. Servers that speak this API know it; later versions change nothing that is sent here.
pub const VERSION: &str = "2023-06-01";
/// Tokens of an answer. The API wants a bound.
const ANSWER_TOKENS_MAX: u32 = 8_192;

#[derive(Deserialize)]
struct MessageResponse {
    content: Vec<Block>,
    usage: Option<Usage>,
    stop_reason: Option<String>,
}

/// A block with the members of all kinds. The input stays a text, so that it is read as strictly as that of other callers.
#[derive(Deserialize)]
struct Block {
    #[serde(rename = "type")]
    kind: String,
    text: Option<String>,
    id: Option<String>,
    name: Option<String>,
    input: Option<Box<RawValue>>,
}

/// Tokens. Those of the question that are in a cache are not among `input_tokens`.
#[derive(Deserialize)]
struct Usage {
    input_tokens: Option<u64>,
    cache_creation_input_tokens: Option<u64>,
    cache_read_input_tokens: Option<u64>,
    output_tokens: Option<u64>,
}

impl Usage {
    fn count_tokens(&self) -> u64 {
        let Self { input_tokens, cache_creation_input_tokens, cache_read_input_tokens, output_tokens } = *self;
        let all = [input_tokens, cache_creation_input_tokens, cache_read_input_tokens, output_tokens];
        all.into_iter().flatten().fold(0, u64::saturating_add)
    }
}

/// The body of a request.
pub fn build_body(model: &str, request: &ModelRequest<'_>) -> RequestBody {
    let messages = build_messages(request.transcript);
    let mut body = json!({"model": model, "max_tokens": ANSWER_TOKENS_MAX, "messages": messages});
    if !request.system.is_empty() {
        body["system"] = json!(request.system);
    }
    RequestBody::of(&body, request.tools.iter().map(build_tool))
}

/// Messages of both sides by turns. The results of all calls of an answer stand in one message.
fn build_messages(transcript: &[TranscriptEntry]) -> Vec<Value> {
    let mut messages: Vec<(&str, Vec<Value>)> = Vec::new();
    for entry in transcript {
        let (role, blocks) = match entry {
            TranscriptEntry::User { text } => ("user", vec![json!({"type": "text", "text": text})]),
            TranscriptEntry::Model { text, calls } => ("assistant", build_answer(text, calls)),
            TranscriptEntry::Observation { call, text, is_error } => {
                let result = json!({"type": "tool_result", "tool_use_id": call, "content": text, "is_error": is_error});
                ("user", vec![result])
            }
        };
        match messages.last_mut() {
            Some((last, all)) if *last == role => all.extend(blocks),
            _ => messages.push((role, blocks)),
        }
    }
    messages.into_iter().map(|(role, content)| json!({"role": role, "content": content})).collect()
}

/// The blocks of an answer. The API refuses empty texts, and answers without blocks.
fn build_answer(text: &str, calls: &[ModelCall]) -> Vec<Value> {
    let text = match text.trim().is_empty() {
        true if calls.is_empty() => Some("…"),
        true => None,
        false => Some(text),
    };
    let text = text.map(|text| json!({"type": "text", "text": text}));
    text.into_iter().chain(calls.iter().map(build_call)).collect()
}

fn build_call(call: &ModelCall) -> Value {
    json!({"type": "tool_use", "id": call.id, "name": call.to_accepted_name(), "input": call.input})
}

fn build_tool(tool: &ToolDefinition) -> [Bytes; 3] {
    let (name, description) = (json!(tool.name), json!(tool.description));
    let before = format!(r#"{{"name":{name},"description":{description},"input_schema":"#);
    [before.into(), tool.input_schema.clone(), Bytes::from_static(b"}")]
}

/// Reads an answer.
pub fn parse_reply(answer: &[u8]) -> Result<Reply, String> {
    let MessageResponse { content, usage, stop_reason } =
        serde_json::from_slice(answer).map_err(|error| error.to_string())?;
    let (mut texts, mut calls) = (Vec::new(), Vec::new());
    for Block { kind, text, id, name, input } in content {
        match kind.as_str() {
            "text" => texts.push(text.ok_or("a block of text has none")?),
            "tool_use" => {
                let (Some(id), Some(name), Some(input)) = (id, name, input) else {
                    return Err("a call has no id, name or input".to_owned());
                };
                calls.push(ModelCall::of_text(id, name, input.get()));
            }
            // Blocks of other kinds say nothing about what to do.
            _ => {}
        }
    }
    if stop_reason.as_deref() == Some("max_tokens") {
        mark_cut_off(&mut calls);
    }
    Ok(Reply { text: texts.join("\n"), calls, tokens: usage.map_or(0, |usage| usage.count_tokens()) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(id: &str) -> ModelCall {
        ModelCall::of_text(id.into(), "look_up".into(), "{}")
    }

    fn observation(call: &str) -> TranscriptEntry {
        TranscriptEntry::Observation { call: call.into(), text: "found".into(), is_error: true }
    }

    #[test]
    fn messages_of_both_sides_take_turns() {
        let transcript = [
            TranscriptEntry::User { text: "Find them.".into() },
            TranscriptEntry::Model { text: String::new(), calls: vec![call("a"), call("b")] },
            observation("a"),
            observation("b"),
            TranscriptEntry::Model { text: " ".into(), calls: vec![] },
            TranscriptEntry::User { text: "Go on.".into() },
        ];
        let request = ModelRequest { model: None, system: "", transcript: &transcript, tools: &[] };
        let body = build_body("small", &request).value();
        let messages = body["messages"].as_array().unwrap();
        let roles: Vec<_> = messages.iter().map(|message| message["role"].as_str().unwrap()).collect();
        assert_eq!(roles, ["user", "assistant", "user", "assistant", "user"]);
        let lengths: Vec<_> = messages.iter().map(|message| message["content"].as_array().unwrap().len()).collect();
        assert_eq!(lengths, [1, 2, 2, 1, 1]);
        assert_eq!(messages[2]["content"][1]["is_error"], true);
        assert!(body.get("system").is_none() && body.get("tools").is_none());
    }

    #[test]
    fn invented_names_are_written_so_that_they_are_accepted() {
        let calls = [ModelCall::of_text("a".into(), "look up!".into(), r#"{"x": 1}"#)];
        assert_eq!(
            build_answer("", &calls),
            [json!({"type": "tool_use", "id": "a", "name": "look_up_", "input": {"x": 1}})]
        );
    }

    #[test]
    fn an_answer_has_blocks() {
        let answer = json!({
            "content": [
                {"type": "thinking", "thinking": "hm", "signature": "x"},
                {"type": "text", "text": "I look."},
                {"type": "tool_use", "id": "t1", "name": "look_up", "input": {"id": 1}},
            ],
            "usage": {
                "input_tokens": 5, "output_tokens": 7,
                "cache_read_input_tokens": 30, "cache_creation_input_tokens": null,
            },
        });
        let read = parse_reply(answer.to_string().as_bytes()).unwrap();
        assert_eq!((read.text.as_str(), read.tokens, read.calls.len()), ("I look.", 42, 1));
        assert!(parse_reply(b"{}").is_err());
    }

    #[test]
    fn the_input_of_a_call_has_one_meaning() {
        for input in [r#"{"a": 1, "a": 2}"#, r#"{"a": 18446744073709551616}"#, "[]"] {
            let call = format!(r#"{{"type": "tool_use", "id": "a", "name": "look_up", "input": {input}}}"#);
            let read = parse_reply(format!(r#"{{"content": [{call}]}}"#).as_bytes()).unwrap();
            assert!(read.calls[0].problem.is_some(), "{input}");
        }
    }

    #[test]
    fn tokens_have_no_overflow() {
        let answer = json!({"content": [], "usage": {"input_tokens": u64::MAX, "output_tokens": 7}});
        assert_eq!(parse_reply(answer.to_string().as_bytes()).unwrap().tokens, u64::MAX);
    }

    #[test]
    fn the_last_call_of_an_answer_that_was_cut_off_has_a_problem() {
        let calls = ["a", "b"].map(|id| json!({"type": "tool_use", "id": id, "name": "look_up", "input": {}}));
        let answer = json!({"content": calls, "stop_reason": "max_tokens"});
        let read = parse_reply(answer.to_string().as_bytes()).unwrap();
        assert_eq!(read.calls[0].problem, None);
        assert!(read.calls[1].problem.as_ref().unwrap().contains("cut off"));
    }

    #[test]
    fn the_input_of_a_call_has_a_bounded_depth() {
        let input = (0..70).fold(json!({}), |inner, _| json!({"x": inner}));
        let answer = json!({"content": [{"type": "tool_use", "id": "a", "name": "look_up", "input": input}]});
        let read = parse_reply(answer.to_string().as_bytes()).unwrap();
        assert!(read.calls[0].members().is_empty() && read.calls[0].problem.is_some());
    }
}
