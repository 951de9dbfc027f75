//! Repositories that several servers share.

use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use nix::sys::signal::Signal;
use serde_json::json;

use crate::harness::{Bucket, Bump, Hold, Repository, Run, Said, Server, SharedPlace, Team, Tool, eventually};

/// More than the time of a lease after its last renewal.
const LEASE_TIME_OVER: Duration = Duration::from_secs(17);

/// The commit of the team's branch at a server, if the branch exists.
fn tip(team: &Team) -> Option<String> {
    let listed = team.repository.ok(&["ls-remote", &team.git_url(), &format!("refs/heads/{}", team.branch())]);
    listed.split_whitespace().next().map(str::to_owned)
}

/// Pushes without force, and returns what git says to a refused push.
fn try_push(team: &Team) -> Result<String, String> {
    let commit = team.repository.commit();
    let said = team.repository.git(&["push", &team.git_url(), &format!("HEAD:{}", team.branch())]);
    if said.code == Some(0) { Ok(commit) } else { Err(said.stderr) }
}

fn cloned(team: &Team, name: &str) -> Repository {
    Repository::clone_from(team.home(), name, &team.git_url(), &["--branch", &team.branch()])
}

/// The copies of repositories in a data directory.
fn copies(server: &Server) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(server.data().join("git-copies")).expect("copies").flatten();
    let paths = entries.map(|entry| entry.path());
    paths.filter(|path| path.extension().is_some_and(|extension| extension == "git")).collect()
}

/// Asserts that the copies in the data directories are complete.
fn check_copies(servers: &[&Arc<Server>]) {
    for copy in servers.iter().flat_map(|server| copies(server)) {
        let fsck = ["-c", "safe.directory=*", "fsck", "--full", "--strict"];
        let checked = Command::new("git").args(fsck).env("GIT_DIR", copy).output().expect("git");
        assert!(checked.status.success(), "{checked:?}");
    }
}

#[test]
fn a_push_to_one_server_is_cloned_tested_and_published_at_another() {
    let Some(nodes) = SharedPlace::new() else { return };
    let (a, b) = (nodes.start(), nodes.start());
    let at_a = Team::on(&a);
    let tool = at_a.tool("shared").body("return 'first'").pushed();
    let at_b = at_a.at(&b);
    let clone = cloned(&at_b, "clone");
    assert_eq!(Some(clone.ok(&["rev-parse", "HEAD"])), tip(&at_a));
    let id = tool.id().to_owned();
    let tested = |team: &Team| {
        let body = json!({
            "inputs": [crate::harness::input(&json!({}))], "commit_branch": team.branch(), "project_path": "tools/shared",
            "required_envvars": {}, "required_secret_envvars": {},
        });
        let answer = team.post("/tool/test", &body).expect(200);
        Run(answer["invocation_results"][0].clone()).output().to_owned()
    };
    assert_eq!(tested(&at_b), "first");
    let publish = |team: &Team| {
        let body = json!({"project_path": "tools/shared", "bump_type": "minor"});
        team.post(&format!("/tool/{id}/version"), &body).expect(201)["new_version"].clone()
    };
    publish(&at_b);
    // The branch no longer has the published commit; its pin keeps it.
    at_a.repository.ok(&["checkout", "-q", "--orphan", "other"]);
    let tool = tool.body("return 'second'").pushed();
    assert_eq!(tested(&at_b), "second");
    assert_eq!(
        tool.publish(Bump::Minor).expect(201)["new_version"].as_str().map(|text| text.split('.').count()),
        Some(3)
    );
    // A server with an empty data directory serves everything.
    let c = nodes.start();
    let at_c = at_a.at(&c);
    assert_eq!(tip(&at_c), tip(&at_a));
    assert_eq!(tested(&at_c), "second");
    let versions = at_c.get(&format!("/tool/{id}/version"));
    assert_eq!(versions["tool_versions"].as_array().expect("versions").len(), 2);
    check_copies(&[&a, &b, &c]);
}

#[test]
fn one_of_two_pushes_to_a_branch_wins() {
    let Some(nodes) = SharedPlace::new() else { return };
    let (a, b) = (nodes.start(), nodes.start());
    let at_a = Team::on(&a);
    at_a.tool("base").pushed();
    let at_b = at_a.at(&b);
    for round in 0..3 {
        for team in [&at_a, &at_b] {
            team.repository.ok(&["fetch", "-q", &team.git_url(), &team.branch()]);
            team.repository.ok(&["reset", "-q", "--hard", "FETCH_HEAD"]);
            team.repository.write("round.txt", format!("{round} at {}", team.server.url).as_bytes());
        }
        let (one, other) =
            std::thread::scope(|scope| (scope.spawn(|| try_push(&at_a)), scope.spawn(|| try_push(&at_b))).join());
        let (won, refused) = match (one, other) {
            (Ok(won), Err(refused)) | (Err(refused), Ok(won)) => (won, refused),
            ended => panic!("one push wins: {ended:?}"),
        };
        let is_ordinary =
            ["fetch first", "failed to update ref", "cannot lock ref"].iter().any(|text| refused.contains(text));
        assert!(refused.contains("rejected") && is_ordinary, "{refused}");
        assert_eq!((tip(&at_a), tip(&at_b)), (Some(won.clone()), Some(won)));
    }
    check_copies(&[&a, &b]);
}

trait Join<T> {
    fn join(self) -> (T, T);
}

impl<T> Join<T> for (std::thread::ScopedJoinHandle<'_, T>, std::thread::ScopedJoinHandle<'_, T>) {
    fn join(self) -> (T, T) {
        (self.0.join().expect("a push"), self.1.join().expect("a push"))
    }
}

#[test]
fn a_server_that_is_killed_during_a_push_leaves_no_part_of_it() {
    let Some(nodes) = SharedPlace::new() else { return };
    let b = nodes.start();
    let at_b = Team::on(&b);
    at_b.tool("base").pushed();
    for hold in [Hold::Before, Hold::After, Hold::Nothing] {
        let (a, gate) = nodes.start_held();
        let at_a = at_b.at(&a);
        at_a.repository.ok(&["fetch", "-q", &at_a.git_url(), &at_a.branch()]);
        at_a.repository.ok(&["reset", "-q", "--hard", "FETCH_HEAD"]);
        let before = tip(&at_b);
        let after = at_a.repository.commit();
        gate.hold(hold);
        std::thread::scope(|scope| {
            let pushing =
                scope.spawn(|| at_a.repository.git(&["push", &at_a.git_url(), &format!("HEAD:{}", at_a.branch())]));
            if hold == Hold::Nothing {
                eventually("the push", || (tip(&at_b) != before).then_some(()));
            } else {
                gate.wait();
                assert_eq!(tip(&at_a), before, "readers of the same server see what is recorded");
            }
            a.kill();
            gate.release();
            let said = pushing.join().expect("a push");
            assert!(said.code != Some(0) || hold == Hold::Nothing, "{said:?}");
        });
        let expected = if hold == Hold::Nothing { Some(after.clone()) } else { before };
        assert_eq!(tip(&at_b), expected, "{hold:?}");
        // The repeated push waits until the lease of the killed server expires.
        let restarted = a.restarted(|_| {});
        let again = at_b.at(&restarted);
        at_a.repository.ok(&["push", "-q", &again.git_url(), &format!("HEAD:{}", at_a.branch())]);
        assert_eq!(tip(&at_b), Some(after));
        check_copies(&[&restarted, &b]);
    }
}

#[test]
fn a_server_that_was_stopped_beyond_its_lease_loses_its_push() {
    let Some(nodes) = SharedPlace::new() else { return };
    let (b, (a, gate)) = (nodes.start(), nodes.start_held());
    let at_b = Team::on(&b);
    at_b.tool("base").pushed();
    let at_a = at_b.at(&a);
    at_a.repository.ok(&["fetch", "-q", &at_a.git_url(), &at_a.branch()]);
    at_a.repository.ok(&["reset", "-q", "--hard", "FETCH_HEAD"]);
    let lost = at_a.repository.commit();
    gate.hold(Hold::Before);
    let won = std::thread::scope(|scope| {
        let pushing =
            scope.spawn(|| at_a.repository.git(&["push", &at_a.git_url(), &format!("HEAD:{}", at_a.branch())]));
        gate.wait();
        a.signal(Signal::SIGSTOP);
        std::thread::sleep(LEASE_TIME_OVER);
        let won = at_b.push();
        a.signal(Signal::SIGCONT);
        gate.release();
        let said = pushing.join().expect("a push");
        assert_ne!(said.code, Some(0), "{said:?}");
        assert!(said.stderr.contains("503"), "{said:?}");
        won
    });
    assert_ne!(won, lost);
    assert_eq!((tip(&at_a), tip(&at_b)), (Some(won.clone()), Some(won)));
    check_copies(&[&a, &b]);
}

/// Asserts that everything that needs the repository says that it is damaged, and that calls go on.
fn is_damaged(team: &Team, tool: &Tool<'_>) {
    let (url, branch) = (team.git_url(), format!("HEAD:{}", team.branch()));
    let cloned = team.repository.git(&["ls-remote", &url]);
    team.repository.commit();
    let pushed = team.repository.git(&["push", "--force", &url, &branch]);
    for said in [cloned, pushed] {
        assert!(said.code != Some(0) && said.stderr.contains("503"), "{said:?}");
    }
    let tool = team.tool("base").with_id(tool.id());
    let verified = team.post(&format!("/tool/{}/version/1.0.0/verify", tool.id()), &json!({}));
    for answer in [verified, tool.publish(Bump::Minor)] {
        assert_eq!((answer.status, answer.code().as_str()), (503, "repository_damaged"), "{answer}");
        assert!(answer.detail().contains("lathe doctor"), "{answer}");
    }
    assert_eq!(tool.invoke(json!({})).output(), "whole");
}

#[test]
fn a_pack_that_is_damaged_or_missing_is_stored_again_by_a_server_with_a_copy() {
    let Some(nodes) = SharedPlace::new() else { return };
    let mut a = nodes.start();
    let at_a = Team::on(&a);
    let tool = at_a.tool("base").body("return 'whole'").published();
    let packs = nodes.bucket.keys_with("/git/");
    assert!(packs.len() >= 2, "{packs:?}");
    for spoil in [Bucket::damage, Bucket::remove] {
        a.signal(Signal::SIGTERM);
        a.ended();
        spoil(&nodes.bucket, &packs[0]);
        let b = nodes.start();
        let at_b = at_a.at(&b);
        is_damaged(&at_b, &tool);
        let log = b.log_about("a git repository is damaged");
        assert!(log.contains("does not match its digest") || log.contains("is missing"), "{log}");
        let data = b.data().to_str().expect("UTF-8");
        let url = nodes.cluster.url("postgres");
        let mut doctor = at_b.lathe().command(&["doctor", "--data", data, "--database", &url]);
        let said = Said::from(doctor.envs(nodes.bucket.variables()).output().expect("the program ends"));
        assert!(said.stdout.contains("1 are missing or damaged") && said.stdout.contains(&packs[0]), "{said:?}");
        assert_eq!(said.code, Some(1), "{said:?}");
        // The server with a copy sees the note.
        a = a.restarted(|_| {});
        eventually("the repair", || {
            at_b.repository.git(&["ls-remote", &at_b.git_url()]).code.filter(|code| *code == 0)
        });
        assert_eq!(tip(&at_b), tip(&at_a.at(&a)));
        assert!(!a.log_about("a pack that the bucket had lost is stored again").is_empty());
    }
}

#[test]
fn repositories_from_before_are_shared_at_the_start() {
    let Some(nodes) = SharedPlace::new() else { return };
    // The organisation exists in the database, and its repository in the data directory.
    let first = nodes.start();
    let team = Team::on(&first);
    let alone = nodes.start();
    alone.signal(Signal::SIGTERM);
    assert!(alone.ended().success());
    let own = alone.data().join("git").join(format!("{}.git", team.organization));
    let init = ["init", "-q", "--bare", "-b", "main"];
    assert!(Command::new("git").args(init).arg(&own).status().expect("git").success());
    let commit = team.repository.commit();
    let own = own.to_str().expect("UTF-8");
    team.repository.ok(&["push", "-q", own, "HEAD:main", &format!("HEAD:{}", team.branch())]);
    let adopting = alone.restarted(|_| {});
    assert_eq!((tip(&team.at(&adopting)), tip(&team)), (Some(commit.clone()), Some(commit)));
    check_copies(&[&first, &adopting]);
}

#[test]
fn one_pack_replaces_those_of_many_pushes() {
    let Some(nodes) = SharedPlace::new() else { return };
    let (a, b) = (nodes.start(), nodes.start());
    let at_a = Team::on(&a);
    at_a.tool("base").pushed();
    let at_b = at_a.at(&b);
    assert_eq!(tip(&at_b), tip(&at_a));
    let packs = |server: &Server| {
        let files = std::fs::read_dir(copies(server)[0].join("objects/pack")).expect("packs").flatten();
        files.filter(|file| file.path().extension().is_some_and(|extension| extension == "pack")).count()
    };
    for number in 0..52 {
        at_a.repository.write("number.txt", number.to_string().as_bytes());
        at_a.push();
    }
    assert_eq!(packs(&a), 54, "the scaffold, the first push and 52 more");
    // A server collects at its start.
    a.signal(Signal::SIGTERM);
    assert!(a.ended().success());
    let restarted = a.restarted(|_| {});
    eventually("the collection", || (packs(&restarted) == 1).then_some(()));
    assert_eq!(tip(&at_b), tip(&at_a.at(&restarted)));
    assert_eq!(packs(&b), 1);
    assert!(nodes.bucket.keys_with("/git/").len() >= 55, "replaced packs stay for a while");
    at_b.repository.ok(&["fetch", "-q", &at_b.git_url(), &at_b.branch()]);
    check_copies(&[&restarted, &b]);
}

#[test]
fn a_push_waits_for_another_one_for_a_bounded_time() {
    let Some(nodes) = SharedPlace::new() else { return };
    let (b, (a, gate)) = (nodes.start(), nodes.start_held());
    let at_b = Team::on(&b);
    at_b.tool("base").pushed();
    let at_a = at_b.at(&a);
    at_a.repository.ok(&["fetch", "-q", &at_a.git_url(), &at_a.branch()]);
    at_a.repository.ok(&["reset", "-q", "--hard", "FETCH_HEAD"]);
    // Commits of one second with equal contents are equal.
    at_a.repository.write("where.txt", b"at A");
    gate.hold(Hold::Before);
    let won = std::thread::scope(|scope| {
        let pushing = scope.spawn(|| try_push(&at_a));
        gate.wait();
        let refused = try_push(&at_b).expect_err("the lease is renewed");
        assert!(refused.contains("503"), "{refused}");
        gate.release();
        pushing.join().expect("a push").expect("the push that was first")
    });
    assert_eq!((tip(&at_a), tip(&at_b)), (Some(won.clone()), Some(won)));
    let refused = try_push(&at_b).expect_err("the branch has moved");
    assert!(refused.contains("fetch first"), "{refused}");
}

#[test]
fn a_damaged_copy_gets_its_packs_from_the_bucket() {
    let Some(nodes) = SharedPlace::new() else { return };
    let a = nodes.start();
    let at_a = Team::on(&a);
    at_a.tool("base").pushed();
    let before = tip(&at_a);
    let folder = copies(&a)[0].join("objects/pack");
    let files = std::fs::read_dir(folder).expect("packs").flatten().map(|entry| entry.path());
    for pack in files.filter(|path| path.extension().is_some_and(|extension| extension == "pack")) {
        std::fs::remove_file(pack).expect("removed");
    }
    assert_eq!((tip(&at_a), before.is_some()), (before, true));
    check_copies(&[&a]);
}
