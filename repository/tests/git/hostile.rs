//! Trees that git accepts and the inspection refuses, alone and in a real push.

use std::fmt::Write;

use git2::Oid;
use repository::{DEPTH_MAX, Extent, FILE_BYTES_MAX, Inspector, Reason, TreeLimits, TreeRefusal};

use crate::client::Client;
use crate::forge::{DIRECTORY, FILE, Forge};
use crate::server::Server;

impl Forge {
    fn inspect(&self, tree: Oid) -> Result<Extent, TreeRefusal> {
        Inspector::new(&self.repository, TreeLimits::PUSHED).expect("an inspector").inspect(tree)
    }

    fn check(&self, tree: Oid, path: &str, reason: &Reason) {
        let refusal = self.inspect(tree).expect_err(path);
        assert_eq!((refusal.path.as_str(), &refusal.reason), (path, reason));
    }
}

#[test]
fn special_entries_are_refused_with_their_path() {
    let forge = Forge::new();
    let file = forge.blob(b"x");
    let check = |mode: &str, name: &[u8], path: &str, reason: Reason| {
        let tree = forge.tree(&[(DIRECTORY, b"a", forge.tree(&[(mode, name, file)]))]);
        forge.check(tree, path, &reason);
    };
    check("120000", b"link", "a/link", Reason::Symlink);
    check("160000", b"module", "a/module", Reason::Submodule);
    check("104755", b"setuid", "a/setuid", Reason::Mode { mode: 0o104_755 });
    check(FILE, b".GIT", "a/.GIT", Reason::GitName);
    check(FILE, b"git~1", "a/git~1", Reason::GitName);
    check(FILE, b"..", "a/..", Reason::Name);
    check(FILE, b".", "a/.", Reason::Name);
    check(FILE, b"x/y", "a/x/y", Reason::Name);
    check(FILE, b"x\\y", "a/x\\y", Reason::Name);
    check(FILE, b"\xff", "a/\u{fffd}", Reason::NotUtf8);
    check(DIRECTORY, b"file", "a/file", Reason::WrongType { expected: "directory" });
}

#[test]
fn a_link_and_a_directory_of_the_same_name_are_refused() {
    let forge = Forge::new();
    let target = forge.blob(b"/etc");
    let inner = forge.tree(&[(FILE, b"passwd", target)]);
    forge.check(forge.tree(&[("120000", b"x", target), (DIRECTORY, b"x", inner)]), "x", &Reason::Symlink);
    let twice = forge.tree(&[(FILE, b"x", target), (DIRECTORY, b"x", inner)]);
    forge.check(twice, "x", &Reason::Twice);
}

#[test]
fn names_that_differ_only_in_case_are_refused() {
    let forge = Forge::new();
    let file = forge.blob(b"x");
    let tree = forge.tree(&[(FILE, b"Tool.py", file), (FILE, b"tool.py", file)]);
    forge.check(tree, "tool.py", &Reason::CaseCollision { other: "Tool.py".to_owned() });
}

#[test]
fn depth_is_bounded_exactly() {
    let forge = Forge::new();
    let leaf = forge.tree(&[(FILE, b"f", forge.blob(b"x"))]);
    let deepest = forge.inspect(forge.nested(leaf, DEPTH_MAX - 1)).expect("the deepest tree");
    assert_eq!(deepest, Extent { entries: u64::from(DEPTH_MAX), depth: DEPTH_MAX, path_bytes: 63, content_bytes: 1 });
    let refusal = forge.inspect(forge.nested(leaf, DEPTH_MAX)).expect_err("one more");
    assert_eq!(refusal.reason, Reason::TooDeep { depth_max: DEPTH_MAX });
}

#[test]
fn a_repeated_subtree_counts_at_every_depth() {
    let forge = Forge::new();
    let leaf = forge.nested(forge.tree(&[(FILE, b"f", forge.blob(b"x"))]), 20);
    let tree = forge.tree(&[(DIRECTORY, b"a", leaf), (DIRECTORY, b"b", forge.nested(leaf, 20))]);
    assert_eq!(forge.inspect(tree).expect_err("too deep").reason, Reason::TooDeep { depth_max: DEPTH_MAX });
}

#[test]
fn a_tree_bomb_is_refused_without_expanding_it() {
    let forge = Forge::new();
    let mut tree = forge.tree(&[(FILE, b"f", forge.blob(b"x"))]);
    for _ in 0..10 {
        let names: Vec<String> = (0..10).map(|number| format!("d{number}")).collect();
        let entries: Vec<_> = names.iter().map(|name| (DIRECTORY, name.as_bytes(), tree)).collect();
        tree = forge.tree(&entries);
    }
    let refusal = forge.inspect(tree).expect_err("a bomb");
    assert_eq!(refusal.reason, Reason::TooManyEntries { entries_max: 20_000 });
}

#[test]
fn large_files_are_refused_one_by_one_and_together() {
    let forge = Forge::new();
    let bytes = FILE_BYTES_MAX as usize;
    let largest = forge.blob(&vec![0; bytes]);
    forge.inspect(forge.tree(&[(FILE, b"f", largest)])).expect("the largest file");
    let reason = Reason::FileTooLarge { bytes: FILE_BYTES_MAX + 1, bytes_max: FILE_BYTES_MAX };
    forge.check(forge.tree(&[(FILE, b"f", forge.blob(&vec![0; bytes + 1]))]), "f", &reason);
    let names: Vec<String> = (0..11).map(|number| format!("f{number:02}")).collect();
    let entries: Vec<_> = names.iter().map(|name| (FILE, name.as_bytes(), largest)).collect();
    forge.check(forge.tree(&entries), "", &Reason::ContentTooLarge { bytes_max: 10 * FILE_BYTES_MAX });
}

#[test]
fn long_paths_and_missing_objects_are_refused() {
    let forge = Forge::new();
    let name = [b'n'; 250];
    let leaf = forge.tree(&[(FILE, name.as_slice(), forge.blob(b"x"))]);
    let tree = (0..16).fold(leaf, |inner, _| forge.tree(&[(DIRECTORY, name.as_slice(), inner)]));
    assert_eq!(forge.inspect(tree).expect_err("too long").reason, Reason::PathTooLong { bytes_max: 4_096 });
    let nowhere = Oid::from_bytes(&[7; 20]).expect("an id");
    let refusal = forge.inspect(forge.tree(&[(FILE, b"gone", nowhere)])).expect_err("missing");
    assert!(matches!(refusal.reason, Reason::Unreadable { .. }), "{refusal}");
}

#[test]
fn a_pushed_symlink_is_refused_before_the_branch_moves() {
    let server = Server::start();
    let author = Client::clone_from(&server.url(), &[]);
    std::os::unix::fs::symlink("/etc/passwd", author.clone.join("tools/hello/link")).expect("a link");
    author.commit("a", b"a");
    let link = ["tools/hello/link: symbolic links are not accepted"];
    author.git(&["push", "origin", "HEAD:releases/acme"]).assert_refused(&link);
    author.ok(&["rm", "-q", "tools/hello/link"]);
    author.commit("b", b"b");
    // The link is not in the tip any more, but still in the history.
    author.git(&["push", "origin", "HEAD:releases/acme"]).assert_refused(&link);
    assert_eq!(server.tip("releases/acme"), None);
    assert_eq!(server.quarantine_leftovers(), 0);
}

#[test]
fn a_pushed_bomb_is_refused_before_the_branch_moves() {
    let server = Server::start();
    let author = Client::clone_from(&server.url(), &[]);
    author.commit("zeros", &vec![0; 30 * 1024 * 1024]);
    author.git(&["push", "origin", "HEAD:releases/acme"]).assert_refused(&["31457280 bytes; at most 20971520"]);
    author.ok(&["reset", "-q", "--hard", "origin/main"]);
    push_tree_bomb(&author).assert_refused(&["more than 20000 files and directories"]);
    assert_eq!(server.tip("releases/acme"), None);
    assert_eq!(server.quarantine_leftovers(), 0);
}

/// Ten levels of ten directories each, made of eleven objects.
fn push_tree_bomb(author: &Client) -> crate::client::Said {
    author.commit("f", b"f");
    let mut tree = author.ok(&["rev-parse", "HEAD^{tree}"]).trim().to_owned();
    for _ in 0..10 {
        let mut listing = String::new();
        for number in 0..10 {
            writeln!(listing, "040000 tree {tree}\td{number}").expect("a line");
        }
        std::fs::write(author.clone.join("listing"), listing).expect("a file");
        tree = author.ok_shell("git mktree < listing").trim().to_owned();
    }
    let commit = author.ok(&["commit-tree", "-m", "bomb", &tree]);
    author.git(&["push", "origin", &format!("{}:refs/heads/releases/acme", commit.trim())])
}
