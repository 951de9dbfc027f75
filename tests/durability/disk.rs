//! A full disk, simulated by a limit on the size of each file.

use serde_json::json;

use crate::harness::{Answer, Bump, Options, Run, Server, Team, Tool, input};

/// Enough for the database, a publication and some hundred records.
const FILE_KIB_MAX: u64 = 4_096;

/// A body whose output does not compress well.
const BODY: &str = "import random\nreturn ''.join(random.choices('abcdefghijklmnopqrstuvwxyz ', k=19_000))";

/// More calls than fit any limit here.
const CALLS_MAX: usize = 300;
const TOOLS_MAX: usize = 1_000;

fn call(tool: &Tool<'_>) -> Answer {
    tool.invoke_request(&json!({"inputs": vec![input(&json!({})); 10]})).send()
}

#[test]
fn a_full_disk_refuses_and_loses_nothing() {
    // The image is larger than the limit, so it is stored without one.
    let roomy = Server::private(&Options::default());
    let team = Team::on(&roomy);
    let tool = team.tool("fills").body(BODY).published();
    let id = tool.id().to_owned();
    drop(tool);
    roomy.signal(nix::sys::signal::Signal::SIGTERM);
    roomy.ended();
    let full = roomy.restarted(|options| options.file_kib_max = Some(FILE_KIB_MAX));
    let team = team.moved_to(full.clone());
    let tool = team.tool("fills").with_id(&id).body(BODY);
    let acknowledged = fill(&tool);
    let tools = fill_with_tools(&team);
    let refused = tool.publish(Bump::Patch);
    assert_eq!((refused.status, refused.code().as_str()), (503, "storage_failing"), "{refused}");
    assert!(refused.detail().contains("storage of the server is full or failing"), "{refused}");
    let unready = full.request("GET", "/health/ready").send();
    assert_eq!((unready.status, unready.code().as_str()), (503, "not_ready"), "{unready}");
    assert!(unready.detail().contains("database"), "{unready}");
    full.request("GET", "/health/live").send().expect(200);
    // Reads continue, and everything that was acknowledged exists.
    all_are_there(&team, &acknowledged, &tools);
    drop(tool);
    full.kill();
    let again = full.restarted(|options| options.file_kib_max = None);
    let team = team.moved_to(again);
    all_are_there(&team, &acknowledged, &tools);
    let tool = team.tool("fills").with_id(&id).body("return 'room again'").pushed();
    tool.publish(Bump::Patch).expect(201);
    assert_eq!(tool.invoke(json!({})).output(), "room again");
}

/// Calls the tool until the server answers 503. Returns the runs that were answered.
fn fill(tool: &Tool<'_>) -> Vec<Run> {
    let mut acknowledged = Vec::new();
    for _ in 0..CALLS_MAX {
        let answer = call(tool);
        if answer.status == 503 {
            assert_eq!(answer.code(), "storage_failing");
            assert!(answer.headers.contains_key("retry-after"), "{answer}");
            return acknowledged;
        }
        let results = answer.expect(200)["invocation_results"].clone();
        assert_eq!(results[0]["succeeded"], true, "{}", results[0]);
        acknowledged.extend(results.as_array().expect("a list").iter().cloned().map(Run));
    }
    panic!("{} runs were recorded, and the disk is still not full", acknowledged.len());
}

/// Creates tools until the database is full.
fn fill_with_tools(team: &Team) -> Vec<String> {
    let mut created = Vec::new();
    for number in 0..TOOLS_MAX {
        let body = json!({"name": format!("tool{number}"), "description": "x".repeat(4_000), "tags": {}});
        let answer = team.post("/tool/", &body);
        if answer.status == 503 {
            assert_eq!(answer.code(), "storage_failing");
            return created;
        }
        created.push(answer.expect(201)["id"].as_str().expect("an id").to_owned());
    }
    panic!("{} tools were created, and the disk is still not full", created.len());
}

fn all_are_there(team: &Team, acknowledged: &[Run], tools: &[String]) {
    assert!(!acknowledged.is_empty(), "not even one call fits on the disk");
    for run in acknowledged {
        let record = team.get(&format!("/tool/invocation/{}", run.id()));
        assert_eq!(record["invocation_status"]["output"], run.0["output"]);
    }
    for tool in tools {
        assert_eq!(team.get(&format!("/tool/?id={tool}"))["tools"][0]["id"], **tool);
    }
}
