//! Locations of a project: its branch, its commit and its path.

use serde_json::{Value, json};

use super::{check, mended, refused};
use crate::harness::{Answer, Bump, Team, Tool, input};

fn publish_from(team: &Team, tool: &Tool<'_>, path: &str, branch: Option<&str>) -> Answer {
    let mut body = json!({"project_path": path, "bump_type": "minor"});
    if let Some(branch) = branch {
        body["commit_branch"] = Value::from(branch);
    }
    team.post(&format!("/tool/{}/version", tool.id()), &body)
}

fn test_from(team: &Team, path: &str, branch: &str) -> Answer {
    let body = json!({
        "inputs": [input(&json!({}))], "commit_branch": branch, "project_path": path,
        "required_envvars": {}, "required_secret_envvars": {},
    });
    team.post("/tool/test", &body)
}

#[test]
fn an_unknown_branch_is_named() {
    let team = Team::new();
    let tool = team.tool("lost");
    // Nothing has been pushed, so the request creates the repository.
    let answer = tool.publish(Bump::Minor);
    answer.expect(404);
    assert!(answer.detail().contains(&format!("`{}`", team.branch())), "{answer}");
    team.push();
    for answer in [
        publish_from(&team, &tool, "tools/lost", Some("releases/other")),
        test_from(&team, "tools/lost", "releases/other"),
    ] {
        answer.expect(404);
        assert_eq!(answer.code(), "unknown_branch");
        assert!(answer.detail().contains("`releases/other`; push it first"), "{answer}");
    }
    mended(tool);
}

#[test]
fn a_missing_directory_is_refused_with_those_that_are_there() {
    let team = Team::new();
    let tool = team.tool("weather");
    team.tool("traffic");
    team.push();
    for answer in [publish_from(&team, &tool, "tools/wether", None), test_from(&team, "tools/wether", &team.branch())] {
        answer.expect(404);
        for word in ["`tools/wether`", "tools/weather", "tools/traffic"] {
            assert!(answer.detail().contains(word), "{word} is missing in: {answer}");
        }
    }
    // A file where a directory should be. A directory above the project exists, and has no project file.
    publish_from(&team, &tool, "tools/weather/pyproject", None).expect(404);
    publish_from(&team, &tool, "tools", None).expect(400);
    mended(tool);
}

#[test]
fn paths_that_leave_the_repository_are_no_paths() {
    let team = Team::new();
    let tool = team.tool("inside").pushed();
    for path in ["", "/etc", "../x", "tools/../x", "a//b", "tools/x\n", "tools/x y", &"a/".repeat(200)] {
        publish_from(&team, &tool, path, None).expect(422);
        test_from(&team, path, &team.branch()).expect(422);
    }
    for branch in ["", "..", "a..b", "-x", "refs/heads/\u{7}", "a b", "a~1", "@{u}"] {
        publish_from(&team, &tool, "tools/inside", Some(branch)).expect(422);
        test_from(&team, "tools/inside", branch).expect(422);
    }
}

#[test]
fn links_and_other_strange_files_are_refused() {
    let team = Team::new();
    let tool = team.next_tool();
    let link = team.repository.directory.join(tool.path()).join("secrets.txt");
    std::os::unix::fs::symlink("/etc/passwd", link).expect("a link");
    team.repository.commit();
    let said = team.repository.git(&["push", &team.git_url(), &format!("HEAD:{}", team.branch())]);
    // Either the push or the build refuses it.
    if said.code == Some(0) {
        refused(&team, &tool, &["secrets.txt"]);
    } else {
        said.refused(1, &["remote: ", "secrets.txt"]);
    }
}

#[test]
fn an_older_commit_is_refused() {
    let team = Team::new();
    let tool = team.tool("ageing").published();
    let first = team.repository.ok(&["rev-parse", "HEAD"]);
    let tool = tool.body("return 'newer'").published();
    let second = team.repository.ok(&["rev-parse", "HEAD"]);
    team.repository.ok(&["reset", "-q", "--hard", &first]);
    team.repository.ok(&["push", "-q", "--force", &team.git_url(), &format!("HEAD:{}", team.branch())]);
    refused(&team, &tool, &["checkout", "older-commit", &first, &second]);
    assert_eq!(tool.invoke(json!({})).output(), "newer");
    team.repository.ok(&["reset", "-q", "--hard", &second]);
    mended(tool);
}

#[test]
fn a_variable_without_a_value_is_named() {
    let team = Team::new();
    let tool = team.tool("asking").manifest("required_envvars = ['REGION']");
    let tool = tool.manifest("required_secret_envvars = ['TOKEN']");
    let tool = tool.body("return config.envvars['REGION'] + config.secrets['TOKEN']").pushed();
    refused(&team, &tool, &["REGION", "TOKEN"]);
    let tested = tool.test(&json!({}));
    tested.expect(400);
    assert!(tested.detail().contains("REGION") && tested.detail().contains("required_envvars"), "{tested}");
    tool.set_variables(&[("REGION", "north", false)]);
    refused(&team, &tool, &["TOKEN"]);
    tool.set_variables(&[("TOKEN", "s3cr3t", true)]);
    tool.publish(Bump::Minor).expect(201);
    assert_eq!(tool.invoke(json!({})).output(), "norths3cr3t");
}

#[test]
fn a_first_refusal_does_not_use_up_a_version() {
    let team = Team::new();
    check(&team, |tool| tool.body("return )"), &["compile", "tool.py"]);
    let tool = team.tool("twice").published();
    let tool = tool.body("return )").pushed();
    refused(&team, &tool, &["tool.py"]);
    mended(tool);
}
