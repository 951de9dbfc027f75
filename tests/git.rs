//! Hosted git with the real client and the real server.

mod bodies;
mod bounds;
mod nodes;
mod quota;
mod refusals;

use serde_json::json;

use crate::harness::{Bump, Repository, Team, input};

#[test]
fn a_clone_has_the_scaffold_and_can_be_published_from() {
    let team = Team::new();
    let clone = Repository::clone_from(team.home(), "clone", &team.git_url(), &[]);
    assert_eq!(clone.ok(&["branch", "--show-current"]), "main");
    assert!(clone.directory.join("README.md").is_file());
    clone.write("tools/hello/pyproject.toml", b"[project]\nname = \"hello\"\n");
    let source = "def run_tool(tool_input, metadata, config, conversation, send_status_event, user_variables):\n    return 'hi'\n";
    clone.write("tools/hello/tool.py", source.as_bytes());
    let commit = clone.commit();
    clone.ok(&["push", "-q", "origin", &format!("HEAD:{}", team.branch())]);
    let tool = team.tool("hello");
    assert_eq!(tool.publish(Bump::Major).expect(201)["new_version"], "1.0.0", "the first is 1.0.0 in any case");
    let list = team.get(&format!("/tool/{}/version", tool.id()));
    assert_eq!(list["tool_versions"][0]["tool_commit_hash"], commit);
    assert_eq!(list["tool_versions"][0]["amigo_scaffold_commit_hash"], clone.ok(&["rev-parse", "origin/main"]));
    assert_eq!(tool.invoke(json!({})).output(), "hi");
}

#[test]
fn a_colleague_fetches_what_was_pushed() {
    let team = Team::new();
    team.tool("shared_work");
    let first = team.push();
    let colleague = Repository::clone_from(team.home(), "colleague", &team.git_url(), &["--branch", &team.branch()]);
    assert_eq!(colleague.ok(&["rev-parse", "HEAD"]), first);
    let second = team.push();
    assert_ne!(first, second);
    colleague.ok(&["pull", "-q"]);
    assert_eq!(colleague.ok(&["rev-parse", "HEAD"]), second);
}

#[test]
fn a_shallow_clone_has_one_commit_and_pushes() {
    let team = Team::new();
    team.tool("deep_history");
    for _ in 0..3 {
        team.push();
    }
    let arguments = ["--depth", "1", "--branch", &team.branch()];
    let shallow = Repository::clone_from(team.home(), "shallow", &team.git_url(), &arguments);
    assert_eq!(shallow.ok(&["rev-list", "--count", "HEAD"]), "1");
    let commit = shallow.commit();
    shallow.ok(&["push", "-q", "origin", &format!("HEAD:{}", team.branch())]);
    assert!(shallow.ok(&["ls-remote", "origin", &team.branch()]).starts_with(&commit));
}

#[test]
fn a_push_of_megabytes_arrives() {
    let team = Team::new();
    // The content does not compress, so that git sends chunks.
    let noise: Vec<u8> = (0..500_000_u32).flat_map(|number| number.wrapping_mul(2_654_435_761).to_le_bytes()).collect();
    team.repository.write("noise.bin", &noise);
    let commit = team.push();
    let clone = Repository::clone_from(team.home(), "clone", &team.git_url(), &["--branch", &team.branch()]);
    assert_eq!(clone.ok(&["rev-parse", "HEAD"]), commit);
    assert_eq!(std::fs::read(clone.directory.join("noise.bin")).expect("a file"), noise);
}

#[test]
fn the_first_answer_asks_for_basic_credentials() {
    let team = Team::new();
    let path = format!("/v1/{}/tool/git/tools.git/info/refs?service=git-upload-pack", team.organization);
    let answer = team.server.request("GET", &path).send();
    assert_eq!(answer.status, 401);
    let challenges: Vec<_> = answer.headers.get_all("www-authenticate").iter().collect();
    assert!(challenges.iter().any(|challenge| challenge.as_bytes().starts_with(b"Basic ")), "{challenges:?}");
}

#[test]
fn bad_credentials_are_refused() {
    let team = Team::new();
    let stranger = Team::on(&team.server);
    let user = format!("{}_{}", team.organization, team.user);
    let cases = [
        format!("{user}:not-a-token"),
        format!("{user}:"),
        format!("nobody:{}", team.token),
        // Another organisation's credentials, and its token under this organisation's name.
        format!("{}_{}:{}", stranger.organization, stranger.user, stranger.token),
        format!("{user}:{}", stranger.token),
    ];
    for credentials in cases {
        let said = team.repository.git(&["ls-remote", &team.git_url_with(&credentials)]);
        assert!(said.code != Some(0) && said.stdout.is_empty(), "{credentials}: {said:?}");
    }
    // Without credentials, git would ask on the terminal, which the test forbids.
    let said = team.repository.git(&["ls-remote", &team.git_url_with("")]);
    assert!(said.code != Some(0) && said.stderr.contains("could not read Username"), "{said:?}");
}

#[test]
fn any_branch_is_tested_and_only_a_release_is_published() {
    let team = Team::new();
    let tool = team.tool("draft").body("return 'a draft'");
    team.repository.commit();
    let push =
        |branch: &str| team.repository.ok(&["push", "-q", &team.git_url(), &format!("HEAD:refs/heads/{branch}")]);
    push("ada/draft");
    let test = json!({
        "inputs": [input(&json!({}))], "commit_branch": "ada/draft", "project_path": tool.path(),
        "required_envvars": {}, "required_secret_envvars": {},
    });
    assert_eq!(tool.id().len(), 24, "a tool of the same name");
    let tested = team.post("/tool/test", &test).expect(200);
    assert_eq!(tested["invocation_results"][0]["output"], "a draft");
    let record = &team.history()[0];
    assert_eq!(record["tool_id"], "0".repeat(24), "a branch test belongs to no tool");
    assert_eq!(team.get(&format!("/tool/invocation?tool_id={}", tool.id()))["tool_invocations"], json!([]));
    let publish = |branch: &str| {
        let body = json!({"project_path": tool.path(), "bump_type": "minor", "commit_branch": branch});
        team.post(&format!("/tool/{}/version", tool.id()), &body)
    };
    for branch in ["ada/draft", "main", "releases"] {
        let refused = publish(branch).expect(422).to_string();
        assert!(refused.contains("published from branches below releases/"), "{branch}: {refused}");
    }
    push("releases/anything");
    publish("releases/anything").expect(201);
}

#[test]
fn a_push_to_main_or_to_no_branch_is_refused_on_the_terminal() {
    let team = Team::new();
    team.push();
    let instead = format!("git push origin HEAD:releases/{}", team.organization);
    let check = |target: &str, words: &[&str]| {
        let said = team.repository.git(&["push", "--force", &team.git_url(), target]);
        said.refused(1, &[words, &["remote: ", &instead]].concat());
    };
    check("HEAD:main", &["main belongs to the service"]);
    check(":main", &["main belongs to the service"]);
    check("HEAD:refs/heads/releases", &["a branch named releases would prevent"]);
    check("HEAD:refs/tags/v1", &["refs/tags/v1 is not a branch"]);
    check("HEAD:refs/lathe/versions/x", &["refs/lathe/versions/x"]);
    let refs = team.repository.ok(&["ls-remote", &team.git_url()]);
    let names: Vec<&str> = refs.lines().filter_map(|line| line.split('\t').nth(1)).collect();
    assert_eq!(names, ["HEAD", "refs/heads/main", &format!("refs/heads/{}", team.branch())]);
}
