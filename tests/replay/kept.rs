//! Stored tapes: encryption, expiry and permissions.

use serde_json::{Value, json};

use super::{identical, replay};
use crate::harness::{Options, Server, Team, change_database, input};

const SECRET: &str = "canary-of-a-secret";
const PIN: &str = "canary-of-a-pin";

#[track_caller]
fn refused(team: &Team, run: &str, code: &str) {
    let refused = replay(team, run, &json!({}));
    assert_eq!((refused.status, refused.code().as_str()), (400, code), "{refused}");
}

fn with_hours(hours: &str) -> std::sync::Arc<Server> {
    Server::private(&Options { arguments: vec!["--tape-hours".into(), hours.into()], ..Options::default() })
}

#[test]
fn secrets_on_a_tape_are_encrypted_and_not_in_answers() {
    let server = with_hours("1");
    let team = Team::on(&server);
    let tool = team.next_tool().source("import time", TELLS).manifest("required_secret_envvars = ['TOKEN']");
    tool.set_variables(&[("TOKEN", SECRET, true)]);
    let tool = tool.published();
    let mut one = input(&json!({}));
    one["sensitive_user_variables"] = json!({"pin": PIN});
    let run = tool.invoke_inputs(&json!({"inputs": [one]})).remove(0);
    assert!(run.output().contains(PIN), "its sender has it");
    let answer = identical(&team, run.id()).to_string();
    assert!(!answer.contains("canary") && answer.contains("[redacted]"), "who replays may be somebody else: {answer}");
    let tool = tool.source("import time", &TELLS.replace("print(", "await send_status_event(")).published();
    let answer = replay(&team, run.id(), &json!({"version": "1.1.0"})).expect(200);
    assert!(answer["identical"] == false && !answer.to_string().contains("canary"), "{answer}");
    assert!(!server.log_about("").contains("canary"));
    for file in ["lathe.db", "lathe.db-wal"] {
        let bytes = std::fs::read(server.data().join(file)).unwrap_or_default();
        for word in [SECRET, PIN, "canary"] {
            assert!(!bytes.windows(word.len()).any(|window| window == word.as_bytes()), "{word} is in {file}");
        }
    }
    drop(tool);
}

const TELLS: &str = "
    print(config.secrets['TOKEN'], user_variables.sensitive['pin'])
    await send_status_event(config.secrets['TOKEN'] + user_variables.sensitive['pin'])
    return [config.secrets['TOKEN'], user_variables.sensitive['pin'], time.time()]
";

#[test]
fn a_run_without_a_tape_is_refused() {
    let off = with_hours("0");
    let team = Team::on(&off);
    let tool = team.next_tool().published();
    let run = tool.invoke(json!({}));
    refused(&team, run.id(), "tape_missing");
    let team = Team::new();
    let tool = team.next_tool().manifest("tape = false").published();
    refused(&team, tool.invoke(json!({})).id(), "tape_missing");
    let unknown = replay(&team, &"f".repeat(24), &json!({}));
    assert_eq!((unknown.status, unknown.code()), (404, "not_found".into()));
}

#[test]
fn a_run_with_too_many_effects_is_recorded_without_its_tape() {
    let team = Team::new();
    let waits = "
        for _ in range(150_000):
            time.sleep(0)
        return 'ok'
    ";
    let tool = team
        .next_tool()
        .source("import time", waits)
        .manifest("timeout_seconds = 300\nlimits.host_calls = 9_000_000")
        .published();
    let run = tool.invoke(json!({}));
    assert_eq!(run.output(), "ok");
    refused(&team, run.id(), "tape_cut");
}

#[test]
fn a_damaged_tape_is_refused_and_an_expired_tape_is_deleted() {
    let server = with_hours("1");
    let team = Team::on(&server);
    let tool = team.next_tool().source("import time", "return time.time_ns()").published();
    let (spoilt, old) = (tool.invoke(json!({})), tool.invoke(json!({})));
    identical(&team, spoilt.id());
    let flip = format!(
        "UPDATE tapes SET sealed = CAST(substr(sealed, 1, 60) || x'00' || substr(sealed, 62) AS BLOB) WHERE invocation = '{}'",
        spoilt.id()
    );
    let expire = format!("UPDATE tapes SET expires_at = 1 WHERE invocation = '{}'", old.id());
    change_database(server.data(), &["DROP TRIGGER tapes_never_updated", &flip, &expire]);
    refused(&team, spoilt.id(), "tape_damaged");
    refused(&team, old.id(), "tape_missing");
    server.signal(nix::sys::signal::Signal::SIGTERM);
    server.ended();
    let server = server.restarted(|_| {});
    let team = team.moved_to(server.clone());
    crate::harness::eventually("the sweep", || {
        (!server.log_about("expired tapes are deleted").is_empty()).then_some(())
    });
    refused(&team, old.id(), "tape_missing");
    refused(&team, spoilt.id(), "tape_damaged");
}

#[test]
fn a_run_of_another_organization_is_not_found() {
    let (team, other) = (Team::new(), Team::new());
    let run = team.next_tool().published().invoke(json!({}));
    let foreign = replay(&other, run.id(), &json!({}));
    let unknown = replay(&other, &"f".repeat(24), &json!({}));
    assert_eq!((foreign.status, &foreign.body), (404, &unknown.body));
}

#[test]
fn a_replay_needs_permissions_to_read_to_run_and_for_a_branch_to_modify() {
    let team = Team::new();
    let run = team.next_tool().published().invoke(json!({}));
    let grants = |permissions: &[&str]| -> Value {
        permissions.iter().map(|permission| json!({"permission": permission, "conditions": []})).collect()
    };
    for (role, permissions, itself, branch) in [
        ("reads", &["Tool:GetInvocation"][..], 403, 403),
        ("runs", &["Tool:InvokeTool"], 403, 403),
        ("both", &["Tool:GetInvocation", "Tool:InvokeTool"], 200, 403),
        ("all", &["Tool:GetInvocation", "Tool:InvokeTool", "Tool:ModifyTool"], 200, 200),
    ] {
        team.post("/role", &json!({"name": role, "grants": grants(permissions)})).expect(201);
        let member = team.joined_by(&format!("{role}-user"), role);
        assert_eq!(replay(&member, run.id(), &json!({})).status, itself, "{role}");
        let answer = replay(&member, run.id(), &json!({"commit_branch": team.branch()}));
        assert_eq!(answer.status, branch, "{role}: {answer}");
    }
}
