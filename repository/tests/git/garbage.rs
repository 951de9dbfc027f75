//! Garbage collection: deleted and kept objects, and its locks.

use registry::{BranchName, ProjectPath};
use repository::{CommitId, Error, GitLimits, GitProgram, GitServer, HeldCommit, export_project};

use crate::client::Client;
use crate::server::{PROJECT_FILES, Server, pinned};
use crate::transport::{begin_push, noise, wait_until};

const BRANCH: &str = "releases/acme";

fn hold(server: &Server) -> HeldCommit {
    server.repository.hold_branch_tip(&BranchName::parse(BRANCH).expect("a name")).expect("a tip")
}

/// Moves the branch to a commit without the former tip as its ancestor.
fn rewrite(author: &Client, content: &[u8]) -> CommitId {
    author.ok(&["reset", "-q", "--hard", "origin/main"]);
    author.commit("tools/hello/data.bin", content);
    author.ok(&["push", "-q", "--force", "origin", &format!("HEAD:{BRANCH}")]);
    author.head().parse().expect("a commit")
}

fn is_readable(server: &Server, commit: &CommitId) -> bool {
    let project = ProjectPath::parse("tools/hello").expect("a path");
    match export_project(&server.repository, commit, &project, &PROJECT_FILES) {
        Ok(tree) => tree.files.contains_key("data.bin"),
        Err(Error::UnknownCommit { .. }) => false,
        Err(error) => panic!("{error}"),
    }
}

fn packs(server: &Server) -> usize {
    let entries = std::fs::read_dir(server.repository.path().join("objects/pack")).expect("packs");
    entries.flatten().filter(|entry| entry.path().extension().is_some_and(|extension| extension == "pack")).count()
}

#[test]
fn unreachable_commits_are_collected_and_pinned_or_live_ones_kept() {
    let server = Server::start();
    let author = Client::clone_from(&server.url(), &[]);
    let pinned = rewrite(&author, b"pinned");
    server.repository.pin(&pinned, &pinned.to_string()).expect("a pin");
    let left = rewrite(&author, b"left");
    let live = rewrite(&author, b"live");
    server.collect_garbage();
    assert!(is_readable(&server, &pinned) && is_readable(&server, &live));
    assert!(!is_readable(&server, &left));
    assert_eq!(packs(&server), 1);
    author.ok(&["fetch", "-q"]);
    let again = Client::clone_from(&server.url(), &["--branch", BRANCH]);
    again.ok(&["fsck", "--full", "--strict"]);
}

#[test]
fn a_held_commit_is_kept_until_the_hold_is_dropped() {
    let server = Server::start();
    let author = Client::clone_from(&server.url(), &[]);
    let first = rewrite(&author, b"first");
    let build = hold(&server);
    assert_eq!(build.commit(), first);
    rewrite(&author, b"second");
    server.collect_garbage();
    assert!(is_readable(&server, &first));
    server.repository.pin(&first, "late").expect("a publication that ends now");
    let git = git2::Repository::open_bare(server.repository.path()).expect("a repository");
    git.find_reference("refs/lathe/late").and_then(|mut pin| pin.delete()).expect("no pin");
    drop(build);
    rewrite(&author, b"third");
    server.collect_garbage();
    assert!(!is_readable(&server, &first));
    assert_eq!(git.references_glob("refs/lathe/*").expect("refs").count(), 0, "holds leave no refs");
}

#[test]
fn an_open_repository_stays_readable_during_a_collection() {
    let server = Server::start();
    let author = Client::clone_from(&server.url(), &[]);
    rewrite(&author, b"left");
    let live = rewrite(&author, b"live");
    let open = git2::Repository::open_bare(server.repository.path()).expect("a repository");
    let id = git2::Oid::from_str(&live.to_string()).expect("an id");
    let commit = open.find_commit(id).expect("a commit");
    server.collect_garbage();
    let tree = commit.tree().expect("its tree");
    let blob = tree.get_path("tools/hello/data.bin".as_ref()).expect("its file").id();
    assert_eq!(open.find_blob(blob).expect("its content").content(), b"live");
}

#[test]
fn nothing_is_collected_while_a_push_is_under_way() {
    let server = Server::start();
    let author = Client::clone_from(&server.url(), &[]);
    let left = rewrite(&author, b"left");
    rewrite(&author, b"live");
    let push = begin_push(&server);
    wait_until("git receives the pack", || server.quarantine_leftovers() == 1);
    server.collect_garbage();
    assert!(is_readable(&server, &left));
    drop(push);
    wait_until("its quarantine is gone", || server.quarantine_leftovers() == 0);
    wait_until("the collection", || {
        server.collect_garbage();
        !is_readable(&server, &left)
    });
}

#[test]
fn objects_in_many_packs_are_kept_once_and_count_once() {
    let mebibyte = 1024 * 1024;
    let server = Server::start_with(GitLimits { repository_bytes_max: 8 * mebibyte, ..GitLimits::default() });
    let content = noise(2 * 1024 * 1024);
    for round in 0..6 {
        // A client without common history sends all objects again.
        let stranger = Client::clone_from(&server.url(), &[]);
        stranger.ok(&["checkout", "-q", "--orphan", "fresh"]);
        stranger.commit("round", &[round]);
        stranger.commit("noise.bin", &content);
        stranger.ok(&["push", "-q", "origin", &format!("HEAD:releases/acme-{round}")]);
    }
    Client::clone_from(&server.url(), &["--branch", "releases/acme-5"]).ok(&["fsck", "--full", "--strict"]);
}

#[test]
fn refs_of_a_stopped_collection_are_removed_at_the_next_start() {
    let server = Server::start();
    let main = server.tip("main").expect("a tip");
    server.repository.pin(&main, "held/0123").expect("a ref");
    server.repository.pin(&main, "0123").expect("a pin");
    let git = GitProgram::find().expect("git");
    GitServer::new(server.repositories.clone(), git, GitLimits::default()).expect("a git server");
    assert_eq!(pinned(&server.repository, "held/0123"), None);
    assert_eq!(pinned(&server.repository, "0123"), Some(main));
}
