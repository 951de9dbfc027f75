//! The operator's bounds of runs: the models that they may name, and their tokens.

use serde_json::{Value, json};

use super::runs::{AGENT, Runs, TOOL, agent, options};
use crate::harness::{ModelEndpoint, Options, Reply, Server, Team};

const MODELS: &str = "--allowed-models";
const TOKENS: &str = "--agent-run-tokens";

/// A team on a server with these bounds.
fn bounded(bounds: [&str; 4]) -> Runs {
    let model = ModelEndpoint::serve();
    let usual = options(&model);
    let arguments = usual.arguments.iter().cloned().chain(bounds.map(str::to_owned)).collect();
    let team = Team::on(&Server::private(&Options { arguments, ..usual }));
    agent(&team);
    Runs { team, model }
}

/// Restarts the server with other bounds.
fn with_bounds(runs: Runs, bounds: [&str; 4]) -> Runs {
    let Runs { team, model } = runs;
    team.server.kill();
    let server = team.server.restarted(|options| {
        let kept = options.arguments.len() - bounds.len();
        options.arguments.truncate(kept);
        options.arguments.extend(bounds.map(str::to_owned));
    });
    Runs { team: team.moved_to(server), model }
}

fn request(objective: &str, name: &str, value: Value) -> Value {
    let mut body =
        json!({"agent": AGENT, "objective": objective, "tools": [TOOL, "__pause_for_human__", "__complete__"]});
    body[name] = value;
    body
}

fn calls() -> Vec<Reply> {
    ["a", "b", "c", "d"].map(|what| Reply::call(TOOL, json!({"what": what}))).to_vec()
}

#[test]
fn a_run_stays_within_the_bounds_of_the_operator() {
    let runs = bounded([MODELS, "large,other", TOKENS, "250"]);
    for (name, value, code, told) in [
        ("model", json!("huge"), "model_not_allowed", "allowed models: small, large, other"),
        ("max_tokens", json!(251), "run_tokens_exceeded", "at most 250 tokens"),
    ] {
        let refused = runs.post("/agents/execute", &request("refused", name, value));
        assert_eq!((refused.status, refused.code().as_str()), (400, code), "{refused}");
        assert!(refused.to_string().contains(told), "{refused}");
    }
    assert!(runs.model.received("refused").is_empty(), "no model was asked");

    for (model, named) in [("small", json!(null)), ("small", json!("small")), ("large", json!("large"))] {
        let objective = format!("{model} {named}");
        let run = runs.execute_with(request(&objective, "model", named), vec![Reply::complete("done")]);
        assert_eq!(
            (&run["status"], &runs.model.received(&objective)[0].body["model"]),
            (&json!("completed"), &json!(model))
        );
    }

    for (name, value, tokens) in
        [("autonomous", json!(true), 300), ("max_tokens", json!(250), 300), ("max_tokens", json!(101), 200)]
    {
        let run = runs.execute_with(request(&format!("{name} {value}"), name, value), calls());
        assert_eq!((&run["error"]["code"], &run["tokens"]), (&json!("max_tokens"), &json!(tokens)), "{run}");
    }
}

/// The bounds are those of the server that works on the run, and not those of the server that began it.
#[test]
fn a_run_that_waits_has_the_bounds_of_the_server_that_goes_on_with_it() {
    let runs = bounded([MODELS, "large", TOKENS, "1000"]);
    let pause = || vec![Reply::call("__pause_for_human__", json!({"question": "Go on?"}))];
    let of_large = runs.execute_with(request("of large", "model", json!("large")), pause());
    let of_small = runs.execute_with(request("of small", "max_tokens", json!(1000)), pause());
    let runs = with_bounds(runs, [MODELS, "other", TOKENS, "100"]);
    let failed = runs.resume(&of_small, &json!({"approved": true})).expect(200);
    assert_eq!((&failed["status"], &failed["error"]["code"]), (&json!("failed"), &json!("max_tokens")), "{failed}");
    let runs = with_bounds(runs, [MODELS, "other", TOKENS, "1000"]);
    let failed = runs.resume(&of_large, &json!({"approved": true})).expect(200);
    assert_eq!(
        (&failed["status"], &failed["error"]["code"]),
        (&json!("failed"), &json!("model_not_allowed")),
        "{failed}"
    );
    assert!(failed["error"]["message"].as_str().is_some_and(|text| text.contains("small, other")), "{failed}");
    assert_eq!(runs.model.received("of large").len(), 1, "the model is not asked again");
}
