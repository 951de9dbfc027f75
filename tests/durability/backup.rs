//! `lathe backup` beside a server under load, and `lathe restore`.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::Mutex;
use serde_json::{Value, json};

use crate::harness::{Bump, Options, Server, Team, Tool, check_integrity, commits_of_versions, eventually, input};

/// Work that clients had got an answer for.
#[derive(Clone, Default)]
pub struct Answered {
    /// Ids and outputs of runs.
    pub runs: Vec<(String, String)>,
    /// Versions with their outputs.
    pub versions: Vec<(String, String)>,
    /// Branches with their commits.
    pub branches: Vec<(String, String)>,
}

fn utf8(path: &Path) -> &str {
    path.to_str().expect("UTF-8")
}

fn repositories(data: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(data.join("git")).expect("repositories");
    let paths = entries.map(|entry| entry.expect("an entry").path());
    paths.filter(|path| path.extension().is_some_and(|extension| extension == "git")).collect()
}

#[track_caller]
fn git(repository: &Path, arguments: &[&str]) -> String {
    let output = Command::new("git").arg("--git-dir").arg(repository).args(arguments).output().expect("git runs");
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("UTF-8")
}

/// Invokes, publishes and pushes branches until `is_over`.
pub fn work(team: &Team, tool: &Tool<'_>, other: &Tool<'_>, answered: &Mutex<Answered>, is_over: &AtomicBool) {
    std::thread::scope(|scope| {
        for worker in 0..2 {
            scope.spawn(move || {
                while !is_over.load(Ordering::Relaxed) {
                    let parameters = json!({"worker": worker, "text": "needle 日本"});
                    let runs = tool.invoke_inputs(&json!({"inputs": vec![input(&parameters); 3]}));
                    let runs = runs.iter().map(|run| (run.id().to_owned(), run.output().to_owned()));
                    answered.lock().runs.extend(runs);
                }
            });
        }
        publish_and_push(other.id(), team, answered, is_over);
    });
}

fn publish_and_push(id: &str, team: &Team, answered: &Mutex<Answered>, is_over: &AtomicBool) {
    let mut other = team.tool("other").with_id(id);
    for number in 0.. {
        if is_over.load(Ordering::Relaxed) {
            return;
        }
        other = other.body(&format!("return 'number {number}'")).pushed();
        let version = other.publish(Bump::Minor).expect(201)["new_version"].as_str().expect("a version").to_owned();
        answered.lock().versions.push((version, format!("number {number}")));
        let branch = format!("work/{}", number % 2);
        let commit = team.repository.ok(&["rev-parse", "HEAD"]);
        team.repository.ok(&["push", "-q", "--force", &team.git_url(), &format!("HEAD:{branch}")]);
        answered.lock().branches.push((branch, commit));
    }
}

#[test]
fn a_backup_under_load_has_everything_that_was_answered_before() {
    let server = Server::private(&Options::default());
    let team = Team::on(&server);
    let tool = team.tool("echo").body("return {'echo': tool_input, 'token': config.secrets['TOKEN']}");
    tool.set_variables(&[("TOKEN", "a secret value", true)]);
    let tool = tool.manifest("required_secret_envvars = ['TOKEN']").published();
    let other = team.tool("other");
    let (answered, is_over) = (Mutex::new(Answered::default()), AtomicBool::new(false));
    let backup = team.home().join("backup");
    let before = std::thread::scope(|scope| {
        let working = scope.spawn(|| work(&team, &tool, &other, &answered, &is_over));
        eventually("some work", || {
            let answered = answered.lock();
            (answered.runs.len() >= 30 && answered.versions.len() >= 3).then_some(())
        });
        let before = answered.lock().clone();
        let said = team.lathe().run(&["--json", "backup", utf8(&backup), "--data", utf8(server.data())]);
        is_over.store(true, Ordering::Relaxed);
        working.join().expect("work");
        assert_eq!(said.ok().document()["master_key_included"], false);
        before
    });
    let key = server.data().join("keys/master.key");
    let restored = team.home().join("restored/data");
    let restore = ["restore", utf8(&backup), "--data", utf8(&restored)];
    team.lathe().run(&restore).refused(1, &["without the master key", "--key"]);
    assert!(!restored.exists());
    team.lathe().ok(&[&restore[..], &["--key", utf8(&key)]].concat());
    is_consistent(&restored);
    let (tool, other) = (tool.id().to_owned(), other.id().to_owned());
    let team = team.moved_to(Server::on_data(&restored, &Options::default()));
    has_all(&team, &before, &other);
    let output = team.tool("echo").with_id(&tool).invoke(json!({"text": "after"}));
    assert_eq!(output.json()["token"], "[redacted]", "the secret is there: {output}");
}

/// The database, the repositories and what versions refer to.
fn is_consistent(data: &Path) {
    assert_eq!(check_integrity(data), "ok");
    let repositories = repositories(data);
    assert_eq!(repositories.len(), 1);
    git(&repositories[0], &["fsck", "--full", "--strict", "--no-dangling"]);
    for commit in commits_of_versions(data) {
        git(&repositories[0], &["cat-file", "-e", &format!("{commit}^{{tree}}")]);
        let refs = git(&repositories[0], &["for-each-ref", "--points-at", &commit, "refs/lathe/"]);
        assert!(!refs.is_empty(), "{commit} is not pinned");
    }
}

fn has_all(team: &Team, before: &Answered, other: &str) {
    for (id, output) in &before.runs {
        let record = team.get(&format!("/tool/invocation/{id}"));
        assert_eq!(record["invocation_status"]["output"], Value::String(output.clone()), "{record}");
    }
    let query = [("query", "needle"), ("query_against", "inputs"), ("limit", "1")];
    let found = team.request("GET", "/tool/invocation/search").query(&query).send().expect(200);
    assert_eq!(found["tool_invocations"].as_array().expect("a list").len(), 1, "{found}");
    for (version, output) in &before.versions {
        let path = format!("/tool/{other}/version/%3D%3D{version}/invoke");
        let body = json!({"inputs": [input(&json!({}))]});
        let answer = team.post(&path, &body).expect(200);
        assert_eq!(answer["invocation_results"][0]["output"], Value::String(output.clone()), "{version}");
    }
    for (branch, commit) in &before.branches {
        let repository = &repositories(team.server.data())[0];
        // The branch may have moved on during the backup.
        git(repository, &["merge-base", "--is-ancestor", commit, &format!("refs/heads/{branch}")]);
    }
}
