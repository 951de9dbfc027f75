//! Authors' mistakes. Each one gives a message with its location and a build log, creates no version, and leaves the
//! tool free for the next publication.

mod archives;
mod costly;
mod dependencies;
mod foreign_locks;
mod manifest;
mod project;
mod source;

use serde_json::json;

use crate::harness::{Answer, Bump, Team, Tool, failed_builds};

/// Publishes and tests an invalid project, repairs it, and publishes it.
///
/// The message must contain all of `words`, and be the same for publishing and testing.
#[track_caller]
fn check(team: &Team, break_it: impl FnOnce(Tool<'_>) -> Tool<'_>, words: &[&str]) {
    let tool = break_it(team.next_tool()).pushed();
    refused(team, &tool, words);
    let tested = tool.test(&json!({}));
    tested.expect(400);
    assert_eq!(tested.detail(), tool.publish(Bump::Minor).detail());
    mended(tool);
}

/// Publishes an invalid project, and checks the response, the versions and the build.
#[track_caller]
fn refused(team: &Team, tool: &Tool<'_>, words: &[&str]) {
    let versions = tool.versions();
    let answer = tool.publish(Bump::Minor);
    answer.expect(400);
    for word in words {
        assert!(answer.detail().contains(word), "{word:?} is missing in: {answer}");
    }
    assert_eq!(tool.versions(), versions, "no version was made");
    let builds = failed_builds(team.server.data(), tool.id());
    let build = builds.last().unwrap_or_else(|| panic!("no failed build is kept: {answer}"));
    assert_eq!(build.message, answer.detail());
    the_refusal_names_its_build(team, tool, &answer);
    let has_log = ["manifest", "dependencies", "compile"].contains(&build.stage.as_str());
    assert!(!has_log || build.log.contains("checkout: done") && build.log.contains(&build.message), "{build:?}");
}

/// Asserts that the response names a build, and that the build has the log.
#[track_caller]
fn the_refusal_names_its_build(team: &Team, tool: &Tool<'_>, answer: &Answer) {
    let id = answer.json()["build_id"].as_str().unwrap_or_else(|| panic!("no build is named: {answer}")).to_owned();
    let build = team.get(&format!("/tool/{}/build/{id}", tool.id()));
    assert_eq!((&build["state"], &build["message"]), (&json!("failed"), &json!(answer.detail())));
    assert_eq!(build["log"], failed_builds(team.server.data(), tool.id()).last().expect("a build").log);
}

/// Asserts that the tool is free and its next valid commit can be published.
#[track_caller]
fn mended(tool: Tool<'_>) {
    let before = tool.versions().len();
    let tool = tool.renewed().published();
    assert_eq!(tool.versions().len(), before + 1);
    assert_eq!(tool.invoke(json!({"a": 1})).output(), r#"{"a":1}"#);
}
