//! Steps that a model without function calls writes as text: `{"thought": …, "action": …, "action_input": {…}}`.

use serde::Deserialize;
use serde_json::value::RawValue;

use super::transcript::{ModelCall, Reply};

#[derive(Deserialize)]
struct Step {
    #[serde(default)]
    thought: String,
    action: String,
    /// An object, which stays a text, so that it is read as strictly as the arguments of other callers.
    action_input: Option<Box<RawValue>>,
}

/// Reads a step from the text of an answer without calls. Its call has no id yet. Other texts stay as they are.
pub fn read(reply: Reply) -> Reply {
    if !reply.calls.is_empty() {
        return reply;
    }
    let Some(Step { thought, action, action_input }) = parse_step(&reply.text) else { return reply };
    let call = ModelCall::of_text(String::new(), action, action_input.as_ref().map_or("{}", |input| input.get()));
    Reply { text: thought, calls: vec![call], ..reply }
}

/// The step of a text, which may stand in a fence.
fn parse_step(text: &str) -> Option<Step> {
    let text = text.trim();
    let fenced = text.strip_prefix("```").and_then(|text| text.strip_suffix("```"));
    let text = fenced.map_or(text, |text| text.trim_start_matches("json"));
    let step: Step = serde_json::from_str(text).ok()?;
    step.action_input.as_ref().is_none_or(|input| input.get().starts_with('{')).then_some(step)
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    fn read_text(text: &str) -> Reply {
        read(Reply { text: text.to_owned(), calls: Vec::new(), tokens: 7 })
    }

    #[test]
    fn a_step_is_a_call() {
        let step = r#"{"thought": "hm", "action": "look_up", "action_input": {"id": 1}}"#;
        for text in [step.to_owned(), format!("\n```json\n{step}\n```\n"), format!("```\n{step}\n```")] {
            let reply = read_text(&text);
            assert_eq!((reply.text.as_str(), reply.tokens), ("hm", 7), "{text}");
            assert_eq!((reply.calls[0].name.as_str(), &reply.calls[0].members()["id"]), ("look_up", &Value::from(1)));
        }
    }

    #[test]
    fn other_texts_stay_as_they_are() {
        for text in ["", "I am done.", "{}", r#"{"action": 1}"#, r#"{"action": "x", "action_input": []}"#] {
            assert_eq!(read_text(text), Reply { text: text.to_owned(), calls: Vec::new(), tokens: 7 });
        }
    }
}
