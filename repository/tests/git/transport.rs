//! Clone, fetch and push over HTTP, and the hook's messages.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::thread::sleep;
use std::time::{Duration, Instant};

use registry::Clock;

use crate::client::Client;
use crate::server::{NOW, Server, acme, pinned, scaffold};

/// The deadline of a test that would not end.
const PATIENCE: Duration = Duration::from_secs(300);

#[test]
fn a_clone_of_a_new_organisation_holds_the_scaffold() {
    let server = Server::start();
    let client = Client::clone_from(&server.url(), &[]);
    for (path, content) in scaffold() {
        assert_eq!(std::fs::read(client.clone.join(path)).expect("a file"), content);
    }
    assert_eq!(client.ok(&["log", "--format=%an %at", "main"]).trim(), "Lathe 1700000000");
    assert!(server.seen().iter().all(|seen| seen.protocol.as_deref() == Some("version=2")), "{:?}", server.seen());
}

#[test]
fn a_release_branch_is_pushed_fetched_forced_and_deleted() {
    let server = Server::start();
    let author = Client::clone_from(&server.url(), &[]);
    author.commit("tools/hello/tool.py", b"one\n");
    author.ok(&["push", "-q", "origin", "HEAD:releases/acme"]);
    assert_eq!(server.tip("releases/acme").map(|tip| tip.to_string()), Some(author.head()));

    let colleague = Client::clone_from(&server.url(), &["--branch", "releases/acme"]);
    assert_eq!(colleague.head(), author.head());
    author.ok(&["commit", "-q", "--amend", "-m", "rewritten"]);
    author.ok(&["push", "-q", "--force", "origin", "HEAD:releases/acme"]);
    colleague.ok(&["fetch", "-q"]);
    assert_eq!(colleague.ok(&["rev-parse", "origin/releases/acme"]).trim(), author.head());

    author.ok(&["push", "-q", "origin", ":releases/acme"]);
    assert_eq!(server.tip("releases/acme"), None);
}

#[test]
fn main_and_tags_are_refused_with_the_next_step() {
    let server = Server::start();
    let main = server.tip("main");
    let author = Client::clone_from(&server.url(), &[]);
    author.commit("a", b"a");
    author
        .git(&["push", "origin", "main"])
        .assert_refused(&["main belongs to the service", "git push origin HEAD:releases/acme"]);
    author.git(&["push", "origin", ":main"]).assert_refused(&["main belongs to the service"]);
    author.git(&["push", "origin", "HEAD:refs/heads/releases"]).assert_refused(&["a branch named releases"]);
    author.git(&["push", "origin", "HEAD:refs/tags/v1"]).assert_refused(&["refs/tags/v1 is not a branch"]);
    author.git(&["push", "origin", "HEAD:refs/lathe/x"]).assert_refused(&["refs/lathe/x"]);
    assert_eq!(server.tip("main"), main);
}

#[test]
fn every_branch_but_main_is_pushed() {
    let server = Server::start();
    let author = Client::clone_from(&server.url(), &[]);
    author.commit("a", b"a");
    for branch in ["feature", "ada/feature"] {
        author.ok(&["push", "-q", "origin", &format!("HEAD:refs/heads/{branch}")]);
        assert_eq!(server.tip(branch).map(|tip| tip.to_string()), Some(author.head()));
        author.ok(&["push", "-q", "origin", &format!(":{branch}")]);
        assert_eq!(server.tip(branch), None);
    }
}

#[test]
fn a_push_of_megabytes_arrives_in_chunks() {
    let server = Server::start();
    let author = Client::clone_from(&server.url(), &[]);
    author.commit("noise.bin", &noise(3 * 1024 * 1024));
    author.ok(&["push", "-q", "origin", "HEAD:releases/acme"]);
    assert_eq!(server.tip("releases/acme").map(|tip| tip.to_string()), Some(author.head()));
    assert!(server.seen().iter().any(|seen| seen.chunked && seen.path == "git-receive-pack"), "{:?}", server.seen());
}

#[test]
fn a_long_negotiation_arrives_compressed() {
    let server = Server::start();
    let author = Client::clone_from(&server.url(), &[]);
    let colleague = Client::clone_from(&server.url(), &[]);
    author.commit("new", b"new");
    author.ok(&["push", "-q", "origin", "HEAD:releases/acme"]);
    for number in 0..40 {
        colleague.ok(&["commit", "-q", "--allow-empty", "-m", &number.to_string()]);
    }
    colleague.ok(&["fetch", "-q"]);
    assert_eq!(colleague.ok(&["rev-parse", "origin/releases/acme"]).trim(), author.head());
    assert!(server.seen().iter().any(|seen| seen.gzip && seen.path == "git-upload-pack"), "{:?}", server.seen());
}

#[test]
fn a_shallow_clone_has_one_commit_and_can_push() {
    let server = Server::start();
    let author = Client::clone_from(&server.url(), &[]);
    for number in 0..3 {
        author.commit("counter", &[number]);
    }
    author.ok(&["push", "-q", "origin", "HEAD:releases/acme"]);
    let shallow = Client::clone_from(&server.url(), &["--depth", "1", "--branch", "releases/acme"]);
    assert_eq!(shallow.ok(&["rev-list", "--count", "HEAD"]).trim(), "1");
    shallow.commit("more", b"more");
    shallow.ok(&["push", "-q", "origin", "HEAD:releases/acme"]);
    assert_eq!(server.tip("releases/acme").map(|tip| tip.to_string()), Some(shallow.head()));
    shallow.ok(&["fetch", "-q", "--unshallow"]);
    assert_eq!(shallow.ok(&["rev-list", "--count", "HEAD"]).trim(), "5");
}

#[test]
fn a_reader_may_clone_and_not_push() {
    let server = Server::start();
    let reader = Client::clone_from(&server.url_for("ro-bob"), &[]);
    reader.commit("a", b"a");
    reader.git(&["push", "origin", "HEAD:releases/acme"]).assert_refused(&["403"]);
    assert_eq!(server.tip("releases/acme"), None);
}

#[test]
fn the_services_refs_are_hidden_and_keep_their_commits() {
    let server = Server::start();
    let author = Client::clone_from(&server.url(), &[]);
    author.commit("a", b"a");
    author.ok(&["push", "-q", "origin", "HEAD:releases/acme"]);
    let published = server.tip("releases/acme").expect("a tip");
    server.repository.pin(&published, "versions/0123/1.0.0").expect("a pin");
    author.ok(&["push", "-q", "origin", ":releases/acme"]);
    assert_eq!(pinned(&server.repository, "versions/0123/1.0.0"), Some(published));
    let listed = author.ok(&["ls-remote", "origin"]);
    assert!(!listed.contains("lathe"), "{listed}");
}

#[test]
fn a_push_is_refused_when_the_hook_cannot_run() {
    let server = Server::start();
    let author = Client::clone_from(&server.url(), &[]);
    author.commit("a", b"a");
    std::fs::remove_file(server.data.path().join("git/hooks/pre-receive")).expect("the hook");
    author.git(&["push", "origin", "HEAD:releases/acme"]).assert_refused(&["503"]);
    assert_eq!(server.tip("releases/acme"), None);
}

#[test]
fn other_paths_and_organisations_do_not_exist() {
    let server = Server::start();
    for path in [
        "HEAD",
        "config",
        "objects/info/packs",
        "info/refs",
        "../acme.git/config",
        "%2e%2e/info/refs?service=git-upload-pack",
    ] {
        assert_eq!(status_of(&server, &format!("GET /ada/tools.git/{path} HTTP/1.1"), ""), 404, "{path}");
    }
    let missing = server.repositories.find(&registry::OrganizationId::parse("other").expect("an id"));
    assert!(missing.is_none());
}

#[test]
fn a_body_over_the_bound_is_refused_by_its_length() {
    let server = Server::start();
    let status = status_of(&server, "POST /ada/tools.git/git-upload-pack HTTP/1.1", "Content-Length: 100000000\r\n");
    assert_eq!(status, 413);
}

#[test]
fn a_client_that_disconnects_leaves_no_process_and_no_objects() {
    let server = Server::start();
    let client = begin_push(&server);
    wait_until("git receives the pack", || server.quarantine_leftovers() == 1);
    drop(client);
    wait_until("git is gone", || processes_of(&server) == 0);
    wait_until("its quarantine is gone", || server.quarantine_leftovers() == 0);
}

#[test]
fn the_fifth_operation_of_an_organisation_waits() {
    let server = Server::start();
    let mut clients: Vec<TcpStream> = (0..4).map(|_| begin_push(&server)).collect();
    wait_until("four pushes run", || server.quarantine_leftovers() == 4);
    let mut fifth = TcpStream::connect(server.address()).expect("a connection");
    let request = "GET /ada/tools.git/info/refs?service=git-upload-pack HTTP/1.1\r\nHost: x\r\n\r\n";
    fifth.write_all(request.as_bytes()).expect("a request");
    fifth.set_read_timeout(Some(Duration::from_millis(300))).expect("a timeout");
    let mut answer = [0; 12];
    fifth.read_exact(&mut answer).expect_err("no turn yet");
    clients.pop();
    fifth.set_read_timeout(Some(PATIENCE)).expect("a timeout");
    fifth.read_exact(&mut answer).expect("an answer");
    assert_eq!(&answer, b"HTTP/1.1 200");
}

#[test]
fn making_a_repository_twice_returns_the_first() {
    let server = Server::start();
    let main = server.tip("main");
    let again = server.repositories.ensure(&acme(), &[("other".to_owned(), b"other".to_vec())]).expect("a repository");
    assert_eq!(again.path(), server.repository.path());
    assert_eq!(server.tip("main"), main);
    let config = repository::Config { root: server.data.path().join("elsewhere"), hook_program: "/bin/false".into() };
    let elsewhere = repository::Repositories::new(&config, Clock::fixed(NOW)).expect("the repositories");
    let same = elsewhere.ensure(&acme(), &scaffold()).expect("a repository");
    let branch = registry::BranchName::parse("main").expect("a branch name");
    assert_eq!(
        same.find_branch_tip(&branch).expect("a tip"),
        main,
        "the same files at the same time are the same commit"
    );
}

fn status_of(server: &Server, request_line: &str, headers: &str) -> u16 {
    let mut stream = TcpStream::connect(server.address()).expect("a connection");
    let request = format!("{request_line}\r\nHost: x\r\nConnection: close\r\n{headers}\r\n");
    stream.write_all(request.as_bytes()).expect("a request");
    let mut answer = [0; 12];
    stream.read_exact(&mut answer).expect("an answer");
    String::from_utf8_lossy(&answer[9..]).parse().expect("a status")
}

/// A push that stalls after its command and the header of its pack.
pub fn begin_push(server: &Server) -> TcpStream {
    let (old, new) = ("0".repeat(40), "1".repeat(40));
    let command = format!("{old} {new} refs/heads/releases/acme\0report-status");
    let mut body = format!("{:04x}{command}0000", command.len() + 4).into_bytes();
    body.extend_from_slice(b"PACK\0\0\0\x02\0\0\0\x05");
    let head = format!(
        "POST /ada/tools.git/git-receive-pack HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-git-receive-pack-request\r\nTransfer-Encoding: chunked\r\n\r\n{:x}\r\n",
        body.len()
    );
    let mut stream = TcpStream::connect(server.address()).expect("a connection");
    stream.write_all(&[head.as_bytes(), &body, b"\r\n"].concat()).expect("a request");
    stream
}

/// The number of processes with this server's directory in their environment.
fn processes_of(server: &Server) -> usize {
    let needle = server.repository.path().to_str().expect("UTF-8").as_bytes().to_vec();
    let environments = std::fs::read_dir("/proc").expect("/proc").flatten().map(|entry| entry.path().join("environ"));
    environments
        .filter_map(|path| std::fs::read(path).ok())
        .filter(|environment| environment.windows(needle.len()).any(|window| window == needle))
        .count()
}

pub fn wait_until(what: &str, condition: impl Fn() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !condition() {
        assert!(Instant::now() < deadline, "{what}: not within {} s", PATIENCE.as_secs());
        sleep(Duration::from_millis(20));
    }
}

/// Bytes that do not compress, always the same.
pub fn noise(bytes: usize) -> Vec<u8> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_le_bytes()
    };
    (0..bytes / 8).flat_map(|_| next()).collect()
}
