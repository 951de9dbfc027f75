//! Endpoints of models: the other API, and endpoints that fail.

use serde_json::{Value, json};

use super::runs::{Runs, TOOL, agent};
use crate::harness::{ModelEndpoint, Options, Reply, Server, Team};
use crate::mcp::client::{Gateway, nested_schema, of_nested};

/// A team on a server whose model has the API of Anthropic.
fn anthropic() -> Runs {
    let model = ModelEndpoint::serve();
    let url = model.messages_url();
    let arguments = ["--model-url", &url, "--model-api", "anthropic", "--model", "small"].map(str::to_owned).to_vec();
    let environment = vec![("LATHE_MODEL_KEY".to_owned(), "sesame".to_owned())];
    let team = Team::on(&Server::private(&Options { arguments, environment, ..Options::default() }));
    Runs { team, model }
}

/// The definition of a tool with a nested schema, as a model receives it.
fn sent(team: &Team, model: &ModelEndpoint) -> Value {
    of_nested(team.tool("order")).body("return 1").published();
    Gateway::of_type(team, "typed", "agent").with(&["order"]);
    model.answers("s4_027", vec![Reply::complete("done")]);
    let body = json!({"agent": "typed", "objective": "s4_027", "tools": ["order", "__complete__"]});
    team.server.request("POST", "/agents/execute").bearer(&team.token).json(&body).send().expect(200);
    model.received("s4_027")[0].body["tools"][0].clone()
}

#[test]
fn s4_027_a_model_gets_the_schema_of_a_tool_unchanged() {
    let (openai, anthropic) = (Runs::shared(), anthropic());
    let description = "A tool of a test.";
    let function = json!({"name": "order", "description": description, "parameters": nested_schema()});
    let sent_to_openai = sent(&Team::on(&openai.team.server), &openai.model);
    assert_eq!(sent_to_openai, json!({"type": "function", "function": function}));
    let sent_to_anthropic = sent(&anthropic.team, &anthropic.model);
    let expected = json!({"name": "order", "description": description, "input_schema": nested_schema()});
    assert_eq!(sent_to_anthropic, expected);
}

#[test]
fn a_run_speaks_the_api_of_anthropic() {
    let runs = anthropic();
    agent(&runs.team);
    let calls = ["a", "b"].map(|what| (TOOL.to_owned(), json!({"what": what})));
    let replies = vec![Reply::Calls(calls.to_vec()), Reply::Text("I talk.".into()), Reply::complete("done")];
    let run = runs
        .execute_with(json!({"objective": "anthropic", "tools": [TOOL, "__complete__"], "model": "large"}), replies);
    assert_eq!((&run["status"], &run["iterations"], &run["tokens"]), (&json!("completed"), &json!(3), &json!(300)));
    let requests = runs.model.received("anthropic");
    assert_eq!((requests[0].header("x-api-key"), &requests[0].body["model"]), (Some("sesame"), &json!("large")));
    let messages = &requests[2].body["messages"];
    let roles: Vec<_> = messages.as_array().expect("messages").iter().map(|message| message["role"].clone()).collect();
    assert_eq!(roles, ["user", "assistant", "user", "assistant", "user"]);
    assert_eq!(messages[2]["content"][1]["content"], "found b");
}

#[test]
fn an_endpoint_that_fails_is_asked_again() {
    let runs = Runs::shared();
    let run = runs.execute("busy model", &["__complete__"], vec![Reply::Refuses(529), Reply::complete("at last")]);
    assert_eq!((&run["final_answer"], &run["iterations"]), (&json!("at last"), &json!(1)));
    let run = runs.execute("model that refuses", &["__complete__"], vec![Reply::Refuses(422)]);
    assert_eq!((&run["status"], &run["error"]["code"]), (&json!("failed"), &json!("model_refused")));
    assert!(
        run["error"]["message"]
            .as_str()
            .is_some_and(|text| text.contains("422") && text.contains("a model that refuses"))
    );
    let run = runs.execute("wrong key", &["__complete__"], vec![Reply::Refuses(401)]);
    assert!(
        run["error"]["message"]
            .as_str()
            .is_some_and(|text| text.contains("401") && !text.contains("a model that refuses"))
    );
    let run = runs.execute("dead model", &["__complete__"], vec![Reply::Refuses(503)]);
    assert_eq!((&run["error"]["code"], runs.model.received("dead model").len()), (&json!("model_unavailable"), 4));
}
