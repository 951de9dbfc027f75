//! An author's checks: runs with mocks before a version is created.

use serde_json::{Value, json};

use crate::harness::{Answer, Bump, Site, Team, Tool};

/// Sends one request, and ignores its failure.
const ASK: &str = "
    import urllib.request
    request = urllib.request.Request(tool_input['url'], method=tool_input.get('method', 'GET'))
    try:
        with urllib.request.urlopen(request) as answer:
            return answer.read().decode()
    except Exception as error:
        return type(error).__name__
";

fn with_check<'t>(tool: Tool<'t>, check: &Value) -> Tool<'t> {
    tool.with_file("checks/one.json", &check.to_string()).pushed()
}

/// Asserts that publishing and testing refuse the project with the same message.
#[track_caller]
fn refused(tool: &Tool<'_>, words: &[&str]) -> Answer {
    let answer = tool.publish(Bump::Auto);
    assert_eq!((answer.status, answer.code()), (400, "build_failed".into()), "{answer}");
    for word in words {
        assert!(answer.detail().contains(word), "{word:?} is missing in: {answer}");
    }
    assert_eq!(tool.test(&json!({})).expect(400)["detail"], answer.detail());
    answer
}

#[track_caller]
fn published(tool: &Tool<'_>) {
    tool.publish(Bump::Auto).expect(201);
}

#[test]
fn the_first_failing_check_refuses_the_version_with_a_difference() {
    let team = Team::new();
    let tool = team.tool("greets").body("return {'greeting': 'Hello, ' + tool_input['name'], 'times': 1}");
    let check = |name: &str, greeting: &str| {
        let output = json!({"greeting": greeting, "times": 1.0});
        json!({"name": name, "input_parameters": {"name": "Ada"}, "expected_output": output})
    };
    let good = check("greets", "Hello, Ada");
    let tool = with_check(tool, &json!([good, check("in German", "Hallo, Ada"), check("too late", "")]));
    let refused = refused(
        &tool,
        &["checks failed (in German): checks/one.json: ", "/greeting: expected \"Hallo, Ada\", got \"Hello, Ada\""],
    );
    assert!(!refused.detail().contains("too late"), "{refused}");
    let build = team.get(&format!("/tool/{}/build/{}", tool.id(), refused.json()["build_id"].as_str().unwrap_or("")));
    let log = build["log"].as_str().expect("a log");
    assert!(log.contains("check greets: ok in ") && log.contains("check in German: FAILED"), "{log}");
    assert!(log.find("compile: done") < log.find("check greets") && !log.contains("gate:"), "{log}");
    assert!(!log.contains("too late"), "what comes after it is not run: {log}");
    let tool = with_check(tool, &good);
    published(&tool);
    assert_eq!(team.history().len(), 0, "a check leaves no record");
    assert_eq!(tool.invoke(json!({"name": "Eve"})).json()["greeting"], "Hello, Eve");
}

#[test]
fn a_check_sets_its_time_of_day_and_its_conversation() {
    let team = Team::new();
    let tool = team.tool("dated").body(
        "
        import asyncio, datetime
        begun = datetime.datetime.now(datetime.UTC)
        await asyncio.sleep(0.01)
        goes_on = begun < datetime.datetime.now(datetime.UTC) < begun + datetime.timedelta(hours=1)
        spoken = conversation and [conversation.conversation_id, conversation.interaction_id, conversation.user_id]
        return {'day': begun.date().isoformat(), 'goes_on': goes_on, 'deadline_ms': metadata.deadline_ms, 'spoken': spoken}
        ",
    );
    let set = json!({
        "clock": "2024-02-29T23:00:00-02:00", "conversation": {"conversation_id": "c-1", "user_id": "eve"},
        "expected_output": {
            "day": "2024-03-01", "goes_on": true, "deadline_ms": 1_709_254_800_000_i64 + 30_000, "spoken": ["c-1", null, "eve"],
        },
    });
    let real = json!({
        "expected_schema": {"properties": {"day": {"not": {"const": "2024-03-01"}}, "goes_on": {"const": true}, "spoken": {"const": null}}},
    });
    published(&with_check(tool, &json!([set, real])));
}

#[test]
fn errors_schemas_and_modes_can_be_expected() {
    let team = Team::new();
    let schema = json!({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]});
    let tool = team.tool("divides").manifest("input_schema = 'in.json'").with_file("in.json", &schema.to_string());
    let tool = tool.body("return {'result': 10 // tool_input['n'], 'mode': metadata.invocation_mode}");
    let checks = json!([
        {"input_parameters": {"n": 5}, "expected_output": {"result": 2, "mode": "regular"}},
        {"input_parameters": {"n": 5}, "invocation_mode": "conversation-simulation",
         "expected_schema": {"properties": {"result": {"minimum": 2}, "mode": {"const": "conversation-simulation"}}}},
        {"input_parameters": {"n": 0}, "expected_error": {"exception_type": "ZeroDivisionError", "message_contains": "zero"}},
        {"input_parameters": {"n": "x"}, "expected_error": {"exception_type": "input_schema", "message_contains": "/n"}},
    ]);
    let tool = with_check(tool, &checks);
    published(&tool);
    let refusals = [
        (
            json!({"input_parameters": {"n": 0}, "expected_output": 1}),
            "expected an output, and the tool failed: ZeroDivisionError",
        ),
        (json!({"input_parameters": {"n": 0}, "expected_output": 1}), "tool.py\", line 4"),
        (
            json!({"input_parameters": {"n": 3}, "expected_error": {"exception_type": "ZeroDivisionError"}}),
            "expected the error ZeroDivisionError, and the tool returned {\"mode\":\"regular\",\"result\":3}",
        ),
        (
            json!({"input_parameters": {"n": 3}, "expected_schema": {"properties": {"result": {"minimum": 4}}}}),
            "/result: value is less than the minimum of 4, got 3",
        ),
        (json!({"input_parameters": {"n": 3}, "expected": 3}), "checks/one.json: unknown field `expected`"),
    ];
    let mut tool = tool;
    for (check, word) in refusals {
        tool = with_check(tool, &check);
        refused(&tool, &["checks/one.json: ", word]);
    }
}

#[test]
fn mocks_answer_every_request_and_nothing_goes_out() {
    let site = Site::serve();
    let team = Team::new();
    let tool = team.tool("asks").body(ASK).manifest(&format!("allowed_hosts = [\"{}\"]", site.address));
    let mock = |path: &str, body: &str| json!({"request": {"method": "GET", "url": site.url(path)}, "response": {"body": body}});
    let mocks = json!([mock("/a", "the project's"), mock("/b", "the project's")]);
    let tool = tool.with_file("mocks/all.json", &mocks.to_string());
    let asks = |path: &str, output: &str| json!({"input_parameters": {"url": site.url(path)}, "mocks": [mock("/a", "its own")], "expected_output": output});
    let elsewhere = json!({"input_parameters": {"url": "http://127.0.0.1:9/"}, "expected_output": "EgressRefused"});
    let tool = with_check(tool, &json!([asks("/a", "its own"), asks("/b", "the project's"), elsewhere]));
    published(&tool);
    let tool = with_check(tool, &asks("/echo", "EgressRefused"));
    refused(&tool, &[&format!("no mock matches GET {} (simulated)", site.url("/echo"))]);
    assert_eq!(site.connections(), 0);
}

#[test]
fn a_check_brings_its_variables_and_its_secrets_stay_out_of_messages() {
    let team = Team::new();
    let tool =
        team.tool("varies").manifest("required_envvars = ['REGION']").manifest("required_secret_envvars = ['TOKEN']");
    let tool = tool.body(
        "return [config.envvars['REGION'], config.secrets['TOKEN'], user_variables.nonsensitive, user_variables.sensitive]",
    );
    let check = |envvars: Value, secrets: Value, output: Value| {
        json!({"envvars": envvars, "secrets": secrets, "nonsensitive_user_variables": {"city": "Oslo"},
               "sensitive_user_variables": {"pin": "9876543210"}, "expected_output": output})
    };
    let (region, token) = (json!({"REGION": "eu"}), json!({"TOKEN": "correct-horse"}));
    let expected = json!(["eu", "correct-horse", {"city": "Oslo"}, {"pin": "9876543210"}]);
    tool.set_variables(&[("REGION", "north", false), ("TOKEN", "production-value", true)]);
    let tool = with_check(tool, &check(region.clone(), token.clone(), expected));
    let test = json!({
        "inputs": [crate::harness::input(&json!({}))], "commit_branch": team.branch(), "project_path": tool.path(),
        "required_envvars": {"REGION": "eu"}, "required_secret_envvars": {"TOKEN": "t"},
    });
    team.post("/tool/test", &test).expect(200);
    published(&tool);
    let mut tool = tool;
    for (check, word) in [
        (
            check(json!({}), token.clone(), json!(1)),
            "requires the variable REGION; give it a value in the check's `envvars`",
        ),
        (
            check(region.clone(), json!({}), json!(1)),
            "requires the variable TOKEN; give it a value in the check's `secrets`",
        ),
        (check(json!({"REGION": "", "MORE": ""}), token.clone(), json!(1)), "gives MORE in `envvars`"),
        (check(region, token.clone(), json!([])), "/1: not expected, got \"[redacted]\""),
        // The output is cut in the middle of the secret.
        (check(json!({"REGION": "e".repeat(185)}), token, json!({})), "the whole: expected {}, got [\"eee"),
    ] {
        tool = with_check(tool, &check);
        let answer = tool.publish(Bump::Auto);
        assert_eq!(answer.status, 400, "{answer}");
        for secret in ["correct", "9876543210", "production-value"] {
            assert!(!answer.detail().contains(secret), "{answer}");
        }
        assert!(answer.detail().contains(word), "{word:?} is missing in: {answer}");
    }
}

#[test]
fn a_check_has_the_bounds_of_its_version() {
    let team = Team::new();
    let tool = team.tool("spins").manifest("timeout_seconds = 1").body("while True: pass");
    let tool = with_check(tool, &json!({"expected_output": 1}));
    refused(&tool, &["expected an output, and the tool failed: timeout_wall: the tool ran longer than 1 s"]);
    let tool = tool.body("return 'x' * 20_001").pushed();
    refused(&tool, &["output_too_large"]);
}
