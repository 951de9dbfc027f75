//! Versions over HTTP: constraints in every operation, refused publications, and deprecation.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use serde_json::{Value, json};

use super::Raised;
use crate::harness::{Answer, Bump, Options, Server, Site, Team, Tool, input};

/// Publishes the same commit repeatedly, each time with its own idempotency key.
fn publish(tool: &Tool<'_>, bumps: &[Bump]) {
    static KEYS: AtomicU64 = AtomicU64::new(0);
    for bump in bumps {
        let key = KEYS.fetch_add(1, Ordering::Relaxed).to_string();
        tool.publish_request(*bump).header("idempotency-key", &key).send().expect(201);
    }
}

fn numbers(rows: &Value, field: &str) -> Vec<String> {
    let number = |row: &Value| {
        let part = |name: &str| row[field][name].as_u64().expect("a number");
        format!("{}.{}.{}", part("major"), part("minor"), part("patch"))
    };
    rows.as_array().expect("a list").iter().map(number).collect()
}

fn invoke(tool: &Tool<'_>, team: &Team, constraint: &str) -> Answer {
    let constraint: String = constraint.bytes().map(|byte| format!("%{byte:02X}")).collect();
    let body = json!({"inputs": [input(&json!({}))]});
    team.post(&format!("/tool/{}/version/{constraint}/invoke", tool.id()), &body)
}

/// A body that returns the version that runs.
const VERSION: &str = "return metadata.version";

#[test]
fn a_constraint_means_the_same_in_every_operation() {
    let team = Team::new();
    let tool = team.tool("many").body(VERSION).pushed();
    // Versions 1.0.0, 1.0.1, 1.1.0, 2.0.0 and 2.0.1.
    publish(&tool, &[Bump::Major, Bump::Patch, Bump::Minor, Bump::Major, Bump::Patch]);
    for version in tool.versions() {
        invoke(&tool, &team, &version).expect(200);
    }
    let newest_first = ["2.0.1", "2.0.0", "1.1.0", "1.0.1", "1.0.0"];
    for (constraint, expected) in [
        (">=0", &newest_first[..]),
        ("==1.*", &newest_first[2..]),
        ("!=1.0.*", &newest_first[..3]),
        ("~=1.0", &newest_first[2..]),
        ("~=1.0.0", &newest_first[3..]),
        (">=1.0.1,<2.0.1,!=1.1", &["2.0.0", "1.0.1"]),
        (" >= 1.0.1 , < 2.0.1 ", &["2.0.0", "1.1.0", "1.0.1"]),
        ("1.1", &["1.1.0"]),
        ("v1.0.1", &["1.0.1"]),
        ("===1.1.0", &["1.1.0"]),
        ("===1.1", &[]),
        (">=2.0.0rc1", &["2.0.1", "2.0.0"]),
        ("==2.0.0rc1", &[]),
        ("<2.0.0a1", &["1.1.0", "1.0.1", "1.0.0"]),
        ("0!1.1.0", &["1.1.0"]),
        (">=1!0", &[]),
        ("==1.1.0.0.*", &["1.1.0"]),
        ("==1.1.0.1.*", &[]),
    ] {
        let versions = team.request("GET", &format!("/tool/{}/version", tool.id())).query(&[("versions", constraint)]);
        assert_eq!(numbers(&versions.send().expect(200)["tool_versions"], "version"), expected, "{constraint}");
        let history = [("tool_id", tool.id()), ("version", constraint)];
        let history = team.request("GET", "/tool/invocation").query(&history).send().expect(200);
        // The history has several runs of the highest versions, from this loop.
        let mut ran = numbers(&history["tool_invocations"], "tool_version");
        ran.sort_unstable();
        ran.dedup();
        ran.reverse();
        assert_eq!(ran, expected, "{constraint}");
        let answer = invoke(&tool, &team, constraint);
        match expected.first() {
            Some(highest) => {
                assert_eq!(answer.expect(200)["invocation_results"][0]["output"], **highest, "{constraint}")
            }
            None => drop(answer.expect(404)),
        }
    }
    let version = |text: &str| format!("/tool/{}/version/{text}", tool.id());
    team.delete(&version("==1.1.0.1.*")).expect(404);
    team.delete(&version("~=1.0.0")).expect(204);
    let live = team.get(&format!("/tool/{}/version?deprecated=false", tool.id()));
    assert_eq!(numbers(&live["tool_versions"], "version"), newest_first[..3]);
}

#[test]
fn versions_go_with_tools_by_position() {
    let team = Team::new();
    let (one, two) = (team.tool("one").body(VERSION), team.tool("two").body(VERSION).pushed());
    for tool in [&one, &two] {
        publish(tool, &[Bump::Major, Bump::Major]);
        tool.versions().iter().for_each(|version| drop(invoke(tool, &team, version).expect(200)));
    }
    let runs = |pairs: &[(&str, &str)]| {
        let list = team
            .request("GET", "/tool/invocation")
            .query(pairs)
            .query(&[("sort_by", "+created_at")])
            .send()
            .expect(200);
        let records = list["tool_invocations"].as_array().expect("a list").clone();
        let name = |record: &Value| if record["tool_id"] == one.id() { "one" } else { "two" };
        let versions = numbers(&list["tool_invocations"], "tool_version");
        records.iter().zip(versions).map(|(record, version)| format!("{} {version}", name(record))).collect::<Vec<_>>()
    };
    let tools = [("tool_id", one.id()), ("tool_id", two.id())];
    assert_eq!(runs(&tools), ["one 1.0.0", "one 2.0.0", "two 1.0.0", "two 2.0.0"]);
    let paired = |first, second| runs(&[tools[0], tools[1], ("version", first), ("version", second)]);
    assert_eq!(paired("1.0.0", "2.0.0"), ["one 1.0.0", "two 2.0.0"]);
    assert_eq!(paired(">=2", "<2"), ["one 2.0.0", "two 1.0.0"]);
    assert_eq!(paired(">=3", ">=0"), ["two 1.0.0", "two 2.0.0"]);
    let twice = [tools[0], tools[0], ("version", "==1.*"), ("version", "==2.*")];
    team.request("GET", "/tool/invocation").query(&twice).send().expect(422);
    for uneven in [vec![tools[0], tools[1], ("version", "1.0.0")], vec![tools[0], ("version", "1"), ("version", "2")]] {
        let answer = team.request("GET", "/tool/invocation").query(&uneven).send();
        assert_eq!((answer.status, answer.code().as_str()), (400, "version_without_tool"));
    }
}

#[test]
fn the_number_of_live_versions_is_a_setting() {
    let arguments = ["--live-versions", "2"].map(str::to_owned).into();
    let team = Team::on(&Server::private(&Options { arguments, ..Options::default() }));
    let tool = team.tool("few").body(VERSION).pushed();
    publish(&tool, &[Bump::Minor, Bump::Minor]);
    let refused = tool.publish_request(Bump::Minor).header("idempotency-key", "over").send();
    assert_eq!((refused.status, refused.code().as_str()), (400, "too_many"));
    assert!(refused.detail().contains("at most 2 live versions"), "{refused}");
    team.delete(&format!("/tool/{}/version/1.0.0", tool.id())).expect(204);
    let published = tool.publish_request(Bump::Minor).header("idempotency-key", "again").send().expect(201);
    assert_eq!(published["new_version"], "1.2.0");
}

#[test]
fn variables_change_together_or_not_at_all_and_stay_while_they_are_needed() {
    let team = Team::new();
    let tool = team.tool("needy").manifest("required_envvars = ['URL']").manifest("required_secret_envvars = ['KEY']");
    let tool = tool.body("return [config.envvars['URL'], config.secrets['KEY']]").pushed();
    let refused = tool.publish(Bump::Minor);
    assert_eq!((refused.status, refused.code().as_str()), (400, "variables_missing"));
    let path = format!("/tool/{}/envvar", tool.id());
    let insert =
        |name: &str, value: &str, is_secret: bool| json!({"name": name, "value": value, "is_secret": is_secret});
    team.post(&path, &json!({"inserts": [insert("URL", "here", false), insert("KEY", "k", false)]})).expect(204);
    let refused = tool.publish(Bump::Minor);
    assert!(
        refused.detail().contains("KEY") && !refused.detail().contains("URL"),
        "it is there, and no secret: {refused}"
    );
    let again = json!({"inserts": [insert("KEY", "k", true)], "deletes": [{"name": "KEY"}]});
    team.post(&path, &again).expect(204);
    tool.publish(Bump::Minor).expect(201);
    let unchanged = |changes: Value, status: u16, code: &str| {
        let answer = team.post(&path, &changes);
        assert_eq!((answer.status, answer.code().as_str()), (status, code), "{changes}");
        assert_eq!(tool.invoke(json!({})).json(), json!(["here", "k"]), "{changes}");
    };
    let update = json!([{"name": "URL", "value": "there"}]);
    unchanged(
        json!({"updates": update, "inserts": [insert("NEW", "", false), insert("URL", "", false)]}),
        409,
        "already_exists",
    );
    unchanged(json!({"updates": update, "deletes": [{"name": "NONE"}]}), 400, "variable_unknown");
    unchanged(json!({"updates": update, "deletes": [{"name": "KEY"}]}), 400, "variable_required");
    unchanged(
        json!({"updates": [{"name": "URL", "value": "there"}, {"name": "NONE", "value": ""}]}),
        400,
        "variable_unknown",
    );
    assert_eq!(team.get("/tool/")["tools"][0]["envvars"], json!(["URL"]));
    team.post(&path, &json!({"updates": update})).expect(204);
    assert_eq!(tool.invoke(json!({})).json()[0], "there");
    team.delete(&format!("/tool/{}/version/1.*", tool.id())).expect(204);
    team.post(&path, &json!({"deletes": [{"name": "KEY"}, {"name": "URL"}]})).expect(204);
}

#[test]
fn a_deprecation_without_a_match_changes_nothing() {
    let team = Team::new();
    let tool = team.tool("steady").body(VERSION).published();
    let tools = team.get("/tool/");
    for constraint in ["2.0.0", "%3E%3D3", "%3C1"] {
        team.delete(&format!("/tool/{}/version/{constraint}", tool.id())).expect(404);
    }
    assert_eq!(team.get("/tool/"), tools);
    team.delete(&format!("/tool/{}/version/1.0.0", tool.id())).expect(204);
    assert_ne!(team.get("/tool/")["tools"][0]["updated_at"], tools["tools"][0]["updated_at"]);
}

#[test]
fn versions_are_deprecated_with_the_permission_to_modify() {
    let team = Team::new();
    let tool = team.tool("aging").body(VERSION).published();
    let with = |user: &str, permission: &str| {
        team.post("/role", &json!({"name": user, "grants": [{"permission": permission}]})).expect(201);
        team.joined_by(user, user).delete(&format!("/tool/{}/version/1.0.0", tool.id()))
    };
    let refused = with("deleter", "Tool:DeleteTool");
    refused.expect(403);
    assert!(refused.detail().contains("Tool:ModifyTool"), "{refused}");
    with("modifier", "Tool:ModifyTool").expect(204);
}

/// Running calls finish and are recorded. Calls after the response to the deprecation find no version, even if they
/// were served before.
#[test]
fn a_deprecation_takes_effect_immediately() {
    let server = Server::private(&Options::reaching_loopback());
    let (team, [one, two]) = (Team::on(&server), [Site::serve(), Site::serve()]);
    let hosts = format!("allowed_hosts = ['{}', '{}']", one.address, two.address);
    let source = "
        if 'held' in tool_input:
            import urllib.request
            urllib.request.urlopen(tool_input['held']).read()
        return metadata.version
    ";
    let tool = team.tool("leaving").body(source).manifest(&hosts).manifest("timeout_seconds = 300").pushed();
    publish(&tool, &[Bump::Minor, Bump::Minor]);
    let path = format!("/tool/{}/version/1.1.0", tool.id());
    deprecated_under_load(&team, &tool, Deprecation { path: &path, constraint: "1.1.0", site: &one });
    // A constraint then matches the highest remaining version.
    assert_eq!(tool.invoke(json!({})).output(), "1.0.0");
    let path = format!("/tool/{}", tool.id());
    deprecated_under_load(&team, &tool, Deprecation { path: &path, constraint: ">=1.0", site: &two });
    team.post(&format!("/tool/{}", tool.id()), &json!({"description": "Too late."})).expect(404);
    tool.publish(Bump::Minor).expect(404);
}

/// A deprecation while a run waits for a site.
struct Deprecation<'a> {
    path: &'a str,
    constraint: &'a str,
    site: &'a Site,
}

fn deprecated_under_load(team: &Team, tool: &Tool<'_>, deprecation: Deprecation<'_>) {
    let Deprecation { path, constraint, site } = deprecation;
    let gone = AtomicBool::new(false);
    let served_until_gone = || {
        loop {
            let is_gone = gone.load(Ordering::SeqCst);
            let answer = invoke(tool, team, constraint);
            if is_gone {
                return answer.status;
            }
            assert!([200, 404].contains(&answer.status), "{answer}");
        }
    };
    std::thread::scope(|scope| {
        let _gone = Raised(&gone);
        let long = scope.spawn(|| {
            let body = json!({"inputs": [input(&site.hold())]});
            let constraint = constraint.replace(">=", "%3E%3D");
            team.post(&format!("/tool/{}/version/{constraint}/invoke", tool.id()), &body)
        });
        site.held.is_reached_by(1);
        let callers: Vec<_> = (0..3).map(|_| scope.spawn(served_until_gone)).collect();
        (0..5).for_each(|_| drop(invoke(tool, team, constraint).expect(200)));
        team.delete(path).expect(204);
        gone.store(true, Ordering::SeqCst);
        for caller in callers {
            assert_eq!(caller.join().expect("an answer"), 404);
        }
        site.held.open();
        let ended = long.join().expect("an answer").expect(200)["invocation_results"][0].clone();
        assert_eq!(ended["succeeded"], true, "{ended}");
        let record = team.get(&format!("/tool/invocation/{}", ended["invocation_id"].as_str().expect("an id")));
        assert_eq!(record["invocation_status"]["output"], ended["output"]);
    });
}

#[test]
fn a_name_is_free_again_after_its_tool() {
    let team = Team::new();
    let tool = team.tool("phoenix").body("return 'first life'").published();
    tool.invoke(json!({}));
    let taken = json!({"name": "phoenix", "description": "Taken.", "tags": {}});
    team.post("/tool/", &taken).expect(409);
    team.delete(&format!("/tool/{}", tool.id())).expect(204);
    let again = team.tool("phoenix").body("return 'second life'").pushed();
    assert_ne!(again.id(), tool.id());
    assert_eq!(again.versions(), [""; 0]);
    assert_eq!(again.publish(Bump::Patch).expect(201)["new_version"], "1.0.0");
    assert_eq!(again.invoke(json!({})).output(), "second life");
    invoke(&tool, &team, "1.0.0").expect(404);
    assert_eq!(tool.versions(), ["1.0.0"], "the old versions stay in sight");
    for (id, output) in [(tool.id(), "first life"), (again.id(), "second life")] {
        let runs = team.get(&format!("/tool/invocation?tool_id={id}"));
        assert_eq!(runs["tool_invocations"][0]["invocation_status"]["output"], output);
        assert_eq!(runs["tool_invocations"].as_array().map(Vec::len), Some(1));
    }
    let names = team.get("/tool/?sort_by=%2Bdeprecated");
    let states: Vec<_> =
        names["tools"].as_array().expect("a list").iter().map(|tool| (&tool["name"], &tool["deprecated"])).collect();
    assert_eq!(states, [(&json!("phoenix"), &json!(false)), (&json!("phoenix"), &json!(true))]);
}
