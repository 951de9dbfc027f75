//! The scripted model of these tests, as the SDKs of OpenAI and Anthropic read it: they refuse answers that are not of their types.

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use super::runs::TOOL;
use crate::harness::{ModelEndpoint, Reply, needs};

/// Asks the model for each objective with the SDK of an API. `None` without the SDKs.
fn read_by_sdk(api: &str, url: &str) -> Option<Value> {
    let python = needs::MODEL_SDKS.require(std::env::var("LATHE_MODEL_SDKS_PYTHON").ok())?;
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/model_sdks/read.py");
    let said = Command::new(python).arg(script).args([api, url]).output().expect("Python runs");
    assert!(said.status.success(), "{}", String::from_utf8_lossy(&said.stderr));
    Some(serde_json::from_slice(&said.stdout).expect("JSON"))
}

fn scripted() -> ModelEndpoint {
    let model = ModelEndpoint::serve();
    let calls = [(TOOL.to_owned(), json!({"what": "é"})), ("__complete__".to_owned(), json!({"answer": "1"}))];
    model.answers("text", vec![Reply::Text("I talk.".to_owned())]);
    model.answers("calls", vec![Reply::Calls(calls.to_vec())]);
    model.answers("busy", vec![Reply::Refuses(429), Reply::Text("at last".to_owned())]);
    model.answers("broken", vec![Reply::Refuses(500)]);
    model.answers("refused", vec![Reply::Refuses(422)]);
    model.answers("too many", vec![Reply::Refuses(429)]);
    model
}

#[test]
fn both_sdks_read_the_scripted_model() {
    let model = scripted();
    let address = model.url().replace("/v1/chat/completions", "");
    for (api, [ended, called]) in [("openai", ["stop", "tool_calls"]), ("anthropic", ["end_turn", "tool_use"])] {
        let Some(read) = read_by_sdk(api, &address) else { return };
        let text = |text: &str| json!({"text": text, "calls": [], "reason": ended, "tokens": 100});
        assert_eq!((&read["text"], &read["busy"]), (&text("I talk."), &text("at last")), "{api}");
        let calls = json!([[TOOL, {"what": "é"}], ["__complete__", {"answer": "1"}]]);
        let expected = json!({"text": "I think.", "calls": calls, "reason": called, "tokens": 100});
        assert_eq!(read["calls"], expected, "{api}");
        for (objective, error, retry_after) in [
            ("broken", "InternalServerError", json!(null)),
            ("refused", "UnprocessableEntityError", json!(null)),
            ("too many", "RateLimitError", json!("1")),
        ] {
            let found = &read[objective];
            assert_eq!((&found["error"], &found["retry_after"]), (&json!(error), &retry_after), "{api}: {found}");
            assert!(found["message"].as_str().is_some_and(|text| text.contains("a model that refuses")), "{found}");
        }
        model.answers("busy", vec![Reply::Refuses(429), Reply::Text("at last".to_owned())]);
    }
}
