//! The publish gate: a candidate must answer recorded runs as the published version did.

use serde_json::{Value, json};

use crate::harness::{Answer, Team, Tool, input};

const BODY: &str = "
    import time, random
    await send_status_event('thinking')
    drawn = random.random()
    if tool_input['name'] == 'nobody':
        raise ValueError('who?')
    return f\"hello {tool_input['name']} at {time.time()} with {drawn}\"
";

/// A tool with recorded runs, one of them failed.
fn ran(team: &Team) -> Tool<'_> {
    let tool = team.tool("greets").body(BODY).published();
    for name in ["ada", "grace", "nobody", "edsger"] {
        tool.invoke(json!({"name": name}));
    }
    tool
}

fn publish(team: &Team, tool: &Tool<'_>, gate: &Value) -> Answer {
    let body = json!({"project_path": tool.path(), "bump_type": "minor", "gate": gate});
    team.post(&format!("/tool/{}/version", tool.id()), &body)
}

fn log_of(team: &Team, tool: &Tool<'_>, refused: &Answer) -> String {
    let build = refused.json()["build_id"].as_str().expect("a build").to_owned();
    team.get(&format!("/tool/{}/build/{build}", tool.id()))["log"].as_str().expect("a log").to_owned()
}

#[test]
fn a_candidate_that_answers_as_before_is_published() {
    let team = Team::new();
    let tool = ran(&team);
    // Other code with the same results: it prints, and calls another function.
    let body = BODY.replace("    drawn =", "    print('a new line of the log')\n    drawn =");
    let tool = tool.body(&body).pushed();
    assert_eq!(publish(&team, &tool, &json!({"replay": 200})).expect(201)["new_version"], "1.1.0");
    let version = team.get(&format!("/tool/{}/version/1.1.0", tool.id()));
    let log = version["build_log"].as_str().expect("a log");
    assert!(log.contains("4 runs of 1.0.0 replayed: 0 different, 0 without a tape"), "{log}");
    assert!(log.contains("computing: "), "{log}");
    assert_eq!(team.history().len(), 4, "nothing of it is recorded");
}

#[test]
fn a_candidate_with_differences_is_refused_and_they_are_listed() {
    let team = Team::new();
    let tool = ran(&team);
    let tool = tool.body(&BODY.replace("hello {", "bonjour {").replace("'who?'", "'qui?'")).pushed();
    let refused = publish(&team, &tool, &json!({"replay": 3}));
    assert_eq!((refused.status, refused.code()), (400, "build_failed".into()));
    let detail = refused.detail();
    for words in
        ["replay failed (different)", "3 of 3 recorded runs of 1.0.0", "at most 0 %", "hello edsger", "bonjour edsger"]
    {
        assert!(detail.contains(words), "{detail} lacks {words}");
    }
    let log = log_of(&team, &tool, &refused);
    assert!(
        log.contains("who?") && log.contains("qui?") && log.contains("3 runs of 1.0.0 replayed: 3 different"),
        "{log}"
    );
    assert_eq!(team.get(&format!("/tool/{}/version/", tool.id()))["tool_versions"].as_array().map(Vec::len), Some(1));

    let refused = team.lathe().run(&[
        "tool",
        "publish",
        "greets",
        "--bump",
        "minor",
        "--gate",
        "replay:10",
        "--gate-different",
        "99",
    ]);
    refused.refused(1, &["4 of 4 recorded runs", "at most 99 %"]);
    // Higher thresholds accept the differences.
    assert_eq!(
        publish(&team, &tool, &json!({"replay": 200, "different_percent_max": 100})).expect(201)["new_version"],
        "1.1.0"
    );
}

#[test]
fn an_additional_effect_and_a_refused_input_are_differences() {
    let team = Team::new();
    let tool = ran(&team);
    let more = BODY.replace("    drawn =", "    await send_status_event('and more')\n    drawn =");
    let tool = tool.body(&more).pushed();
    let detail = publish(&team, &tool, &json!({"replay": 1})).detail();
    assert!(detail.contains("1 of 1 recorded runs") && detail.contains("and more"), "{detail}");
    let narrow = json!({"type": "object", "properties": {"name": {"enum": ["ada"]}}}).to_string();
    let tool = tool.body(BODY).manifest("input_schema = 'in.json'").with_file("in.json", &narrow).pushed();
    let body = json!({"project_path": tool.path(), "bump_type": "major", "gate": {"replay": 200, "different_percent_max": 74}});
    let detail = team.post(&format!("/tool/{}/version", tool.id()), &body).detail();
    assert!(detail.contains("3 of 4 recorded runs"), "{detail}");
}

#[test]
fn a_branch_is_tested_against_recorded_runs_too() {
    let team = Team::new();
    let tool = ran(&team).body(&BODY.replace("hello {", "bonjour {")).pushed();
    let mut body = json!({
        "inputs": [input(&json!({"name": "ada"}))], "commit_branch": team.branch(), "project_path": tool.path(),
        "required_envvars": {}, "required_secret_envvars": {}, "gate": {"replay": 1},
    });
    let refused = team.post("/tool/test", &body);
    assert!(refused.detail().contains("1 of 1 recorded runs of 1.0.0 differ"), "{refused}");
    body["gate"]["different_percent_max"] = json!(100);
    assert_eq!(team.post("/tool/test", &body).status, 200);
}

#[test]
fn a_tool_without_runs_passes_and_an_invalid_gate_is_refused() {
    let team = Team::new();
    let tool = team.tool("fresh").pushed();
    assert_eq!(publish(&team, &tool, &json!({"replay": 200})).expect(201)["new_version"], "1.0.0");
    let tool = tool.body("return 1").pushed();
    assert_eq!(publish(&team, &tool, &json!({"replay": 200})).expect(201)["new_version"], "1.1.0");
    for wrong in [
        json!({}),
        json!({"replay": 0}),
        json!({"replay": 1_001}),
        json!("replay:3"),
        json!({"replay": 1, "different_percent_max": 101}),
    ] {
        assert_eq!(publish(&team, &tool, &wrong).status, 422, "{wrong}");
    }
    let said = team.lathe().run(&["tool", "publish", "fresh", "--bump", "minor", "--gate", "everything"]);
    said.refused(2, &["replay:200"]);
}

#[test]
fn a_gate_needs_the_permissions_of_a_replay() {
    let team = Team::new();
    let tool = ran(&team).body("return 1").pushed();
    let grants = |permissions: &[&str]| -> Value {
        permissions.iter().map(|permission| json!({"permission": permission, "conditions": []})).collect()
    };
    let all = ["Tool:ModifyTool", "Tool:TestTool", "Tool:GetTool", "Tool:GetInvocation", "Tool:InvokeTool"];
    for (role, lacking, publishing, testing) in [
        ("cannot-read", "Tool:GetInvocation", 403, 403),
        ("cannot-run", "Tool:InvokeTool", 403, 403),
        ("cannot-modify", "Tool:ModifyTool", 403, 403),
        ("can-all", "", 400, 400),
    ] {
        let permissions: Vec<_> = all.into_iter().filter(|permission| *permission != lacking).collect();
        team.post("/role", &json!({"name": role, "grants": grants(&permissions)})).expect(201);
        let member = team.joined_by(&format!("{role}-user"), role);
        assert_eq!(publish(&member, &tool, &json!({"replay": 3})).status, publishing, "{role}");
        let body = json!({
            "inputs": [input(&json!({"name": "ada"}))], "commit_branch": team.branch(), "project_path": tool.path(),
            "required_envvars": {}, "required_secret_envvars": {}, "gate": {"replay": 3},
        });
        assert_eq!(member.post("/tool/test", &body).status, testing, "{role}");
    }
}
