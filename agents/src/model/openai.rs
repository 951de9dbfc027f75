//! The chat completions of OpenAI.

use bytes::Bytes;
use serde::Deserialize;
use serde_json::{Value, json};

use super::request_body::RequestBody;
use super::transcript::{ModelCall, ModelRequest, Reply, ToolDefinition, TranscriptEntry, mark_cut_off};

#[derive(Deserialize)]
struct CompletionResponse {
    choices: Vec<Choice>,
    usage: Option<Usage>,
}

#[derive(Deserialize)]
struct Choice {
    message: Message,
    finish_reason: Option<String>,
}

#[derive(Deserialize)]
struct Message {
    content: Option<String>,
    tool_calls: Option<Vec<ToolCall>>,
}

#[derive(Deserialize)]
struct ToolCall {
    id: Option<String>,
    function: Function,
}

#[derive(Deserialize)]
struct Function {
    name: String,
    arguments: String,
}

#[derive(Deserialize)]
struct Usage {
    total_tokens: Option<u64>,
}

/// The body of a request.
pub fn build_body(model: &str, request: &ModelRequest<'_>) -> RequestBody {
    let system = (!request.system.is_empty()).then(|| json!({"role": "system", "content": request.system}));
    let messages: Vec<_> = system.into_iter().chain(request.transcript.iter().map(build_message)).collect();
    RequestBody::of(&json!({"model": model, "messages": messages}), request.tools.iter().map(build_tool))
}

fn build_message(entry: &TranscriptEntry) -> Value {
    match entry {
        TranscriptEntry::User { text } => json!({"role": "user", "content": text}),
        TranscriptEntry::Model { text, calls } if calls.is_empty() => json!({"role": "assistant", "content": text}),
        TranscriptEntry::Model { text, calls } => {
            let calls: Vec<_> = calls.iter().map(call).collect();
            json!({"role": "assistant", "content": text, "tool_calls": calls})
        }
        TranscriptEntry::Observation { call, text, .. } => {
            json!({"role": "tool", "tool_call_id": call, "content": text})
        }
    }
}

fn call(call: &ModelCall) -> Value {
    let function = json!({"name": call.to_accepted_name(), "arguments": call.input.as_str()});
    json!({"id": call.id, "type": "function", "function": function})
}

fn build_tool(tool: &ToolDefinition) -> [Bytes; 3] {
    let (name, description) = (json!(tool.name), json!(tool.description));
    let before = format!(r#"{{"type":"function","function":{{"name":{name},"description":{description},"parameters":"#);
    [before.into(), tool.input_schema.clone(), Bytes::from_static(b"}}")]
}

/// Reads an answer. A call without an id has an empty one.
pub fn parse_reply(answer: &[u8]) -> Result<Reply, String> {
    let CompletionResponse { choices, usage } = serde_json::from_slice(answer).map_err(|error| error.to_string())?;
    let Choice { message, finish_reason } = choices.into_iter().next().ok_or("it has no choice")?;
    let mut calls: Vec<_> = message.tool_calls.into_iter().flatten().map(parse_call).collect();
    if finish_reason.as_deref() == Some("length") {
        mark_cut_off(&mut calls);
    }
    let tokens = usage.and_then(|usage| usage.total_tokens).unwrap_or_default();
    Ok(Reply { text: message.content.unwrap_or_default(), calls, tokens })
}

fn parse_call(call: ToolCall) -> ModelCall {
    let ToolCall { id, function } = call;
    ModelCall::of_text(id.unwrap_or_default(), function.name, &function.arguments)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_transcript_becomes_messages() {
        let call = ModelCall::of_text("c1".into(), "look_up".into(), r#"{"id":1}"#);
        let transcript = [
            TranscriptEntry::User { text: "Find it.".into() },
            TranscriptEntry::Model { text: "hm".into(), calls: vec![call] },
            TranscriptEntry::Observation { call: "c1".into(), text: "found".into(), is_error: false },
        ];
        let tools = [ToolDefinition {
            name: "look_up".into(),
            description: "Looks.".into(),
            input_schema: json!({"type": "object"}).to_string().into(),
        }];
        let request = ModelRequest { model: None, system: "Be brief.", transcript: &transcript, tools: &tools };
        let body = build_body("small", &request).value();
        let roles: Vec<_> =
            body["messages"].as_array().unwrap().iter().map(|message| message["role"].clone()).collect();
        assert_eq!(roles, ["system", "user", "assistant", "tool"]);
        assert_eq!(body["messages"][2]["tool_calls"][0]["function"]["arguments"], r#"{"id":1}"#);
        assert_eq!(body["messages"][3]["tool_call_id"], "c1");
        assert_eq!(body["tools"][0]["function"]["parameters"]["type"], "object");
    }

    #[test]
    fn invented_names_are_written_so_that_they_are_accepted_and_no_tools_are_left_out() {
        let call = ModelCall::of_text("c1".into(), "look up!".into(), "{}");
        let transcript = [TranscriptEntry::Model { text: String::new(), calls: vec![call] }];
        let body =
            build_body("small", &ModelRequest { model: None, system: "", transcript: &transcript, tools: &[] }).value();
        assert_eq!(body["messages"][0]["tool_calls"][0]["function"]["name"], "look_up_");
        assert!(body.get("tools").is_none());
    }

    #[test]
    fn an_answer_may_lack_ids_and_tokens() {
        let call = json!({"function": {"name": "a", "arguments": "{}"}});
        let answer = json!({"choices": [{"message": {"content": "", "tool_calls": [call]}}], "usage": null});
        let read = parse_reply(answer.to_string().as_bytes()).unwrap();
        assert_eq!((read.tokens, read.calls[0].id.as_str(), read.calls[0].problem.as_ref()), (0, "", None));
    }

    #[test]
    fn the_last_call_of_an_answer_that_was_cut_off_has_a_problem() {
        let calls = ["{}", r#"{"x": "#].map(|text| json!({"id": "c", "function": {"name": "a", "arguments": text}}));
        let choice = json!({"finish_reason": "length", "message": {"tool_calls": calls}});
        let read = parse_reply(json!({"choices": [choice]}).to_string().as_bytes()).unwrap();
        assert_eq!(read.calls[0].problem, None);
        assert!(read.calls[1].problem.as_ref().unwrap().contains("cut off"));
    }

    #[test]
    fn an_answer_has_text_or_calls() {
        let answer = json!({
            "choices": [{"message": {"content": null, "tool_calls": [
                {"id": "c1", "type": "function", "function": {"name": "a", "arguments": "{\"x\": 1}"}},
                {"id": "c2", "type": "function", "function": {"name": "b", "arguments": "oops"}},
            ]}}],
            "usage": {"total_tokens": 12},
        });
        let read = parse_reply(answer.to_string().as_bytes()).unwrap();
        assert_eq!((read.tokens, read.calls.len(), &read.calls[0].members()["x"]), (12, 2, &json!(1)));
        assert!(read.calls[1].problem.as_ref().unwrap().contains("not a JSON object"));
        let text = json!({"choices": [{"message": {"content": "hello"}}]});
        assert_eq!(parse_reply(text.to_string().as_bytes()).unwrap().text, "hello");
        for wrong in ["", "{}", r#"{"choices": []}"#] {
            assert!(parse_reply(wrong.as_bytes()).is_err(), "{wrong}");
        }
    }
}
