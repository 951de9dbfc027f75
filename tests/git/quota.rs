//! The quota of an organisation's repository, and garbage collection.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::json;

use crate::harness::{Bump, Options, Repository, Server, SharedPlace, Team, eventually};

const MEBIBYTE: usize = 1024 * 1024;
const QUOTA_MEBIBYTES: u64 = 16;

fn server() -> Arc<Server> {
    let arguments = vec!["--repository-megabytes".to_owned(), QUOTA_MEBIBYTES.to_string()];
    Server::private(&Options { arguments, ..Options::default() })
}

/// Bytes that do not compress, different on each call.
fn noise(mebibytes: usize) -> Vec<u8> {
    let mut bytes = vec![0; mebibytes * MEBIBYTE];
    fastrand::Rng::new().fill(&mut bytes);
    bytes
}

fn objects(team: &Team) -> PathBuf {
    team.server.data().join(format!("git/{}.git/objects", team.organization))
}

fn bytes_below(directory: &Path) -> u64 {
    // git may remove a file meanwhile.
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    let size = |entry: std::fs::DirEntry| match entry.metadata() {
        Ok(metadata) if metadata.is_dir() => bytes_below(&entry.path()),
        metadata => metadata.map_or(0, |metadata| metadata.len()),
    };
    entries.map(size).sum()
}

/// Replaces the commit of the work branch with a root commit of this file.
fn rewrite(team: &Team, bytes: &[u8]) -> String {
    rewrite_in(&team.repository, bytes)
}

fn rewrite_in(repository: &Repository, bytes: &[u8]) -> String {
    repository.write("noise.bin", bytes);
    repository.ok(&["checkout", "-q", "--orphan", &format!("work{}", fastrand::u64(..))]);
    repository.commit()
}

fn push(team: &Team, branch: &str) -> crate::harness::Said {
    team.repository.git(&["push", "--force", &team.git_url(), &format!("HEAD:releases/{branch}")])
}

fn tips(team: &Team) -> String {
    team.repository.ok(&["ls-remote", &team.git_url()])
}

#[test]
fn forced_pushes_stay_within_the_quota() {
    let team = Team::on(&server());
    for round in 0..8 {
        let commit = rewrite(&team, &noise(5));
        push(&team, &team.organization).ok();
        assert!(tips(&team).contains(&commit), "round {round}");
        let bytes = bytes_below(&objects(&team));
        assert!(bytes <= QUOTA_MEBIBYTES * MEBIBYTE as u64, "round {round}: {bytes}");
    }
    let clone = Repository::clone_from(team.home(), "clone", &team.git_url(), &["--branch", &team.branch()]);
    clone.ok(&["fsck", "--full", "--strict"]);
}

#[test]
fn forced_pushes_to_two_servers_stay_within_the_quota() {
    let Some(nodes) = SharedPlace::new() else { return };
    let start = || nodes.start_with(&["--repository-megabytes", &QUOTA_MEBIBYTES.to_string()]);
    let (a, b) = (start(), start());
    let at_a = Team::on(&a);
    let at_b = at_a.at(&b);
    let tool = at_a.tool("stays").body("return 'kept'").pushed();
    tool.publish(Bump::Major).expect(201);
    for round in 0..8 {
        let team = if round % 2 == 0 { &at_a } else { &at_b };
        let commit = rewrite(team, &noise(5));
        push(team, &team.organization).ok();
        for team in [&at_a, &at_b] {
            assert!(tips(team).contains(&commit), "round {round}");
            let bytes = bytes_below(&team.server.data().join(format!("git-copies/{}.git/objects", team.organization)));
            assert!(bytes <= QUOTA_MEBIBYTES * MEBIBYTE as u64, "round {round}: {bytes}");
        }
    }
    let at_c = at_a.at(&start());
    let found = at_c.post(&format!("/tool/{}/version/1.0.0/verify", tool.id()), &json!({})).expect(200);
    assert_eq!(found["identical"], true, "{found}");
    let clone = Repository::clone_from(at_c.home(), "clone", &at_c.git_url(), &["--branch", &at_c.branch()]);
    clone.ok(&["fsck", "--full", "--strict"]);
}

#[test]
fn a_published_commit_outlives_its_branch() {
    let team = Team::on(&server());
    let tool = team.tool("stays").body("return 'kept'").pushed();
    assert_eq!(tool.publish(Bump::Major).expect(201)["new_version"], "1.0.0");
    let published = team.repository.ok(&["rev-parse", "HEAD"]);
    for _ in 0..6 {
        rewrite(&team, &noise(5));
        push(&team, &team.organization).ok();
    }
    let git = |arguments: &[&str]| {
        let path = objects(&team);
        let path = path.parent().expect("a repository").to_str().expect("UTF-8");
        team.repository.git(&[&["--git-dir", path], arguments].concat())
    };
    git(&["cat-file", "-e", &published]).ok();
    let found = team.post(&format!("/tool/{}/version/1.0.0/verify", tool.id()), &json!({})).expect(200);
    assert_eq!(found, json!({"identical": true, "differences": [], "signed": true}));
    assert_eq!(tool.invoke(json!({})).output(), "kept");
    // The commit can be published again from a branch.
    team.repository.ok(&["push", "-q", "--force", &team.git_url(), &format!("{published}:{}", team.branch())]);
    tool.test(&json!({})).expect(200);
}

#[test]
fn a_push_beyond_the_quota_is_refused_and_loses_nothing() {
    let team = Team::on(&server());
    let mut commits = Vec::new();
    for branch in ["one", "two"] {
        commits.push(rewrite(&team, &noise(6)));
        push(&team, branch).ok();
    }
    let before = tips(&team);
    rewrite(&team, &noise(6));
    for _ in 0..2 {
        let said = push(&team, "three");
        said.refused(
            1,
            &["the repository uses 12", "of its quota of 16 MiB", "the push adds 6", "git push origin --delete"],
        );
        assert_eq!(tips(&team), before);
    }
    for (branch, commit) in ["one", "two"].into_iter().zip(commits) {
        let arguments = ["--branch", &format!("releases/{branch}")];
        let clone = Repository::clone_from(team.home(), branch, &team.git_url(), &arguments);
        assert_eq!(clone.ok(&["rev-parse", "HEAD"]), commit);
    }
    // The message's next step works.
    team.repository.ok(&["push", "-q", &team.git_url(), ":releases/one"]);
    push(&team, "three").ok();
}

#[test]
fn garbage_is_collected_without_a_push_too() {
    let team = Team::on(&Server::private(&Options::default()));
    rewrite(&team, &noise(3));
    push(&team, &team.organization).ok();
    rewrite(&team, &[]);
    push(&team, &team.organization).ok();
    assert!(bytes_below(&objects(&team)) > 3 * MEBIBYTE as u64);
    let server = team.server.clone();
    server.signal(nix::sys::signal::Signal::SIGTERM);
    server.ended();
    let team = team.moved_to(server.restarted(|_| {}));
    eventually("the collection at the start", || (bytes_below(&objects(&team)) < MEBIBYTE as u64).then_some(()));
    let clone = Repository::clone_from(team.home(), "clone", &team.git_url(), &["--branch", &team.branch()]);
    clone.ok(&["fsck", "--full", "--strict"]);
}

#[test]
fn pushes_and_builds_continue_during_collections() {
    let team = Team::on(&server());
    let colleague = Repository::clone_from(team.home(), "colleague", &team.git_url(), &[]);
    let target = ["push", "-q", "--force", &team.git_url(), "HEAD:releases/noise"].map(str::to_owned);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for _ in 0..10 {
                rewrite_in(&colleague, &noise(3));
                colleague.ok(&target.each_ref().map(String::as_str));
            }
        });
        let mut tool = team.tool("busy");
        for round in 0..6 {
            tool = tool.body(&format!("return {round}")).pushed();
            tool.test(&json!({})).expect(200);
        }
        assert_eq!(tool.publish(Bump::Minor).status, 201);
        assert_eq!(tool.invoke(json!({})).output(), "5");
    });
    let clone = Repository::clone_from(team.home(), "clone", &team.git_url(), &["--no-single-branch"]);
    clone.ok(&["fsck", "--full", "--strict"]);
    assert!(!team.server.log_about("garbage was collected").is_empty());
    assert_eq!(team.server.log_about("garbage could not be collected"), "");
}
