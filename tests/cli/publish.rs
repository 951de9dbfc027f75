//! `lathe tool publish` in a checkout: it says what it publishes, and publishes nothing else than meant. A test of a pushed
//! branch says what it tests.

use serde_json::{Value, json};

use crate::harness::{Team, Terminal, Tool};

/// A tool that is committed on the release branch of its team, and pushed.
fn released<'t>(team: &'t Team, name: &str) -> Tool<'t> {
    team.repository.ok(&["switch", "-q", "-c", &team.branch()]);
    team.repository.ok(&["remote", "add", "origin", &team.git_url_with("")]);
    let tool = team.tool(name).pushed();
    tool.id();
    tool
}

fn commit_of(team: &Team, tool: &str, version: &str) -> Value {
    team.lathe().json(&["tool", "show", tool, version])["tool_commit_hash"].clone()
}

#[test]
fn it_names_branch_commit_and_subject() {
    let team = Team::new();
    let tool = released(&team, "shout")
        .with_file("checks/one.json", &json!({"input_parameters": {}, "expected_output": {}}).to_string());
    team.repository.ok(&["add", "--all"]);
    team.repository.ok(&["commit", "-q", "-m", "shout: first version"]);
    team.repository.ok(&["push", "-q", &team.git_url(), &format!("HEAD:{}", team.branch())]);
    let head = team.repository.ok(&["rev-parse", "HEAD"]);
    let said = team.lathe().run(&["tool", "publish", "shout", "--bump", "auto"]).ok();
    let line = format!("publishing tools/shout from {}, commit {} (shout: first version)", team.branch(), &head[..12]);
    assert!(said.stderr.contains(&line) && said.stderr.contains("check one: ok"), "{said:?}");
    // The log has the subject for those who have no checkout.
    assert!(said.stderr.contains(&format!("commit {head}: shout: first version")), "{said:?}");
    assert_eq!(commit_of(&team, "shout", "1.0.0"), head);
    drop(tool.body("return 1"));
}

#[test]
fn a_commit_that_is_not_pushed_stops_it() {
    let team = Team::new();
    let tool = released(&team, "shout");
    let lathe = team.lathe();
    let pushed = team.repository.ok(&["rev-parse", "HEAD"]);
    let tool = tool.body("return 'later'");
    team.repository.commit();
    let publish = ["tool", "publish", "shout", "--bump", "minor"];
    let push = format!("1 commit here is not pushed: `git push origin {}`", team.branch());
    lathe.run(&publish).refused(1, &[&push, "--yes"]);
    let refused = lathe.run(&[&["--json"], &publish[..]].concat());
    assert_eq!(refused.document()["error"]["code"], "checkout_differs", "{refused:?}");
    assert!(tool.versions().is_empty());
    // With the user's consent, the pushed state is published.
    let said = lathe.run(&[&publish[..], &["--yes"]].concat()).ok();
    assert!(said.stderr.contains(&push), "{said:?}");
    assert_eq!(commit_of(&team, "shout", "1.0.0"), pushed);
    let again = lathe.run(&[&publish[..], &["-y"]].concat());
    again.refused(1, &[&format!("{} has not moved since 1.0.0", team.branch()), &push]);
    team.push();
    lathe.ok(&publish);
    assert_eq!(tool.versions(), ["1.0.0", "1.1.0"]);
}

#[test]
fn changes_that_are_not_committed_stop_it() {
    let team = Team::new();
    let tool = released(&team, "shout").body("return 'later'").with_file("new.py", "");
    let lathe = team.lathe();
    let publish = ["tool", "publish", "shout", "--bump", "minor"];
    lathe.run(&publish).refused(1, &["2 files are not committed (tools/shout/", "git add tools/shout && git commit"]);
    // Changes elsewhere are not published in any case.
    team.repository.ok(&["stash", "-q", "--include-untracked"]);
    team.repository.write("notes.txt", b"later");
    lathe.ok(&publish);
    drop(tool);
}

#[test]
fn another_branch_is_named() {
    let team = Team::new();
    let tool = released(&team, "shout");
    let lathe = team.lathe();
    let publish = ["tool", "publish", "shout", "--bump", "minor"];
    team.repository.ok(&["switch", "-q", "-c", "work"]);
    let tool = tool.body("return 'later'");
    team.repository.commit();
    let push = format!("`git push origin HEAD:{}`", team.branch());
    lathe.run(&publish).refused(1, &["`work` is checked out", &push]);
    team.repository.ok(&["switch", "-q", "--detach"]);
    lathe.run(&publish).refused(1, &["no branch is checked out", &push]);
    // The same commit is published from wherever it is checked out.
    team.repository.ok(&["switch", "-q", "--detach", &team.branch()]);
    lathe.ok(&publish);
    // A named branch is published as it is, and the checked-out release branch before the organisation's.
    team.repository.ok(&["switch", "-q", "work"]);
    team.repository.ok(&["push", "-q", &team.git_url(), "HEAD:releases/other"]);
    team.repository.ok(&["switch", "-q", "--detach", &team.branch()]);
    lathe.ok(&[&publish[..], &["--branch", "releases/other"]].concat());
    team.repository.ok(&["switch", "-q", "-c", "releases/never"]);
    lathe.run(&publish).refused(1, &["no branch `releases/never`", "git push origin releases/never"]);
    assert_eq!(tool.versions(), ["1.0.0", "1.1.0"]);
}

#[test]
fn a_directory_that_is_only_here_is_pushed_first() {
    let team = Team::new();
    drop(released(&team, "shout"));
    team.tool("fresh").id();
    team.repository.commit();
    let refused = team.lathe().run(&["tool", "publish", "fresh", "--bump", "minor", "--yes"]);
    refused.refused(1, &["no directory `tools/fresh` on releases/", "push it first", "1 commit here is not pushed"]);
}

/// Whatever the checkout lacks, what it has besides is never forgotten.
#[test]
fn a_checkout_without_the_directory_stops_it() {
    let team = Team::new();
    let tool = released(&team, "shout");
    let lathe = team.lathe();
    let publish = ["tool", "publish", "shout", "--bump", "minor"];
    team.repository.ok(&["mv", "tools/shout", "louder"]);
    let missing = "`tools/shout` is not in this checkout; name another project with --path: --path louder";
    lathe.run(&publish).refused(1, &[missing, "not committed"]);
    team.repository.commit();
    let push = format!("1 commit here is not pushed: `git push origin {}`", team.branch());
    lathe.run(&publish).refused(1, &[missing, &push]);
    // Another branch, from which the organisation's own would be published.
    team.repository.ok(&["switch", "-q", "-c", "work"]);
    lathe.run(&publish).refused(1, &[missing, "`work` is checked out"]);
    assert!(tool.versions().is_empty());
    lathe.ok(&[&publish[..], &["--yes"]].concat());
    assert_eq!(tool.versions(), ["1.0.0"]);
}

#[test]
fn each_difference_has_its_own_next_step() {
    let team = Team::new();
    drop(released(&team, "shout"));
    let (lathe, branch) = (team.lathe(), team.branch());
    let publish = ["tool", "publish", "shout", "--bump", "minor"];
    // Behind the server there is nothing to push.
    team.repository.ok(&["commit", "-q", "--allow-empty", "-m", "later"]);
    team.push();
    team.repository.ok(&["reset", "-q", "--hard", "HEAD~1"]);
    let refused = lathe.run(&publish);
    refused.refused(1, &[&format!("1 commit of {branch} is not here: `git pull`")]);
    assert!(!refused.stderr.contains("push"), "{refused:?}");
    // The commits of one release branch are not pushed to another.
    team.repository.ok(&["switch", "-q", "-c", "releases/two"]);
    team.repository.ok(&["commit", "-q", "--allow-empty", "-m", "two"]);
    let said = lathe.run(&[&publish[..], &["--branch", &branch]].concat()).ok();
    assert!(said.stderr.contains(&format!("`releases/two` is checked out, not {branch}")), "{said:?}");
    assert!(!said.stderr.contains("git push"), "{said:?}");
    // Versions come from release branches only, whether the server has the branch or not.
    for branch in ["feature/x", "nope"] {
        let refused = lathe.run(&[&publish[..], &["--branch", branch]].concat());
        refused.refused(2, &["versions are published from branches below releases/", "lathe tool test --branch"]);
    }
}

#[test]
fn a_test_of_a_branch_says_what_it_tests() {
    let team = Team::new();
    let schema = json!({"type": "object", "required": ["text"]}).to_string();
    let tool =
        released(&team, "shout").manifest("input_schema = 'schema.json'").with_file("schema.json", &schema).pushed();
    let head = team.repository.ok(&["rev-parse", "HEAD"]);
    let tool = tool.body("return 'later'");
    team.repository.commit();
    let lathe = team.lathe();
    let test = ["tool", "test", "--pushed", "tools/shout"];
    // Without an input, build and checks decide.
    let checked = lathe.run(&test).ok();
    let line = "the build and its checks passed; no input ran, since none was given: add --input";
    assert!(checked.stdout.contains(line), "{checked:?}");
    assert_eq!(lathe.json(&test), json!({"invocation_results": []}));
    let said = lathe.run(&[&test[..], &["--input", r#"{"text": "a"}"#]].concat()).ok();
    let line = format!("testing tools/shout from {}, commit {}", team.branch(), &head[..12]);
    let push = format!("1 commit here is not pushed: `git push origin {}`", team.branch());
    assert!(said.stderr.contains(&line) && said.stderr.contains(&push), "{said:?}");
    drop(tool);
}

#[test]
fn on_a_terminal_it_asks_and_keeps_the_checks_and_the_gates_reasons() {
    let team = Team::new();
    let check = json!({"input_parameters": {}, "expected_output": {}}).to_string();
    let tool = released(&team, "shout").with_file("checks/one.json", &check).published();
    let tool = tool.manifest("allowed_hosts = ['api.example.com']").pushed();
    let tool = tool.body("return 'later'");
    team.repository.commit();
    let lathe = team.lathe();
    let start = || Terminal::start(lathe.command(&["tool", "publish", "shout", "--bump", "minor"]));
    let mut terminal = start();
    terminal.shows("1 commit here is not pushed");
    terminal.shows("as it is? [y/N]");
    terminal.types("n\n");
    terminal.shows("nothing was published");
    assert_eq!(terminal.ended().code(), Some(1));
    let mut terminal = start();
    terminal.shows("as it is? [y/N]");
    terminal.types("y\n");
    terminal.shows("check one: ok");
    terminal.shows("since 1.0.0, minor: a new host: api.example.com");
    terminal.shows("published shout 1.1.0");
    assert!(terminal.ended().success());
    assert_eq!(tool.versions(), ["1.0.0", "1.1.0"]);
}
