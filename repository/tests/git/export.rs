//! The export of projects, ancestry of commits, and pins.

use registry::{BranchName, ProjectPath};
use repository::{CommitId, Error, ErrorKind, Repository, export_project, find_projects};

use crate::client::Client;
use crate::server::{PROJECT_FILES, Server, pinned};

fn path(text: &str) -> ProjectPath {
    ProjectPath::parse(text).expect("a project path")
}

fn tip(repository: &Repository, branch: &str) -> CommitId {
    repository.require_branch_tip(&BranchName::parse(branch).expect("a branch name")).expect("a tip")
}

#[test]
fn a_project_is_exported_as_it_was_committed() {
    let server = Server::start();
    let author = Client::clone_from(&server.url(), &[]);
    author.commit(".gitattributes", b"*.txt text eol=crlf export-subst\nhidden.py export-ignore\n");
    author.commit("tools/hello/data/raw.txt", b"$Format:%H$\n");
    author.commit("tools/hello/hidden.py", b"\x00\xff");
    author.ok(&["push", "-q", "origin", "HEAD:releases/acme"]);
    let commit = tip(&server.repository, "releases/acme");
    let source =
        export_project(&server.repository, &commit, &path("tools/hello"), &PROJECT_FILES).expect("the project");
    let names: Vec<&str> = source.files.keys().map(String::as_str).collect();
    assert_eq!(source.commit, commit);
    assert_eq!(names, ["data/raw.txt", "hidden.py", "pyproject.toml", "tool.py"]);
    assert_eq!(source.files["data/raw.txt"], b"$Format:%H$\n");
    assert_eq!(source.files["hidden.py"], b"\x00\xff");
}

#[test]
fn a_missing_project_is_refused_with_the_existing_ones() {
    let server = Server::start();
    let commit = tip(&server.repository, "main");
    assert_eq!(find_projects(&server.repository, &commit, &PROJECT_FILES).expect("a list"), ["tools/hello"]);
    for missing in ["tools/helo", "tool", "tools/hello/deeper", "README"] {
        let error = export_project(&server.repository, &commit, &path(missing), &PROJECT_FILES).expect_err(missing);
        assert_eq!((error.kind(), error.code()), (ErrorKind::Missing, "missing_project_directory"));
        assert!(error.to_string().contains("directories with a project file: `tools/hello`."), "{error}");
    }
}

#[test]
fn a_refused_file_is_named_by_its_path_from_the_root() {
    let server = Server::start();
    let git = git2::Repository::open_bare(server.repository.path()).expect("a repository");
    let commit = commit_with_link(&git);
    let error = export_project(&server.repository, &commit, &path("a/b"), &PROJECT_FILES).expect_err("a link");
    assert_eq!(error.to_string(), "a/b/link: symbolic links are not accepted; commit the file itself");
    export_project(&server.repository, &commit, &path("a/good"), &PROJECT_FILES).expect("the project beside it");
}

#[test]
fn the_size_of_a_project_is_bounded() {
    let server = Server::start();
    let author = Client::clone_from(&server.url(), &[]);
    std::fs::create_dir_all(author.clone.join("big")).expect("a directory");
    std::fs::write(author.clone.join("big/one"), vec![1; 11 * 1024 * 1024]).expect("a file");
    author.commit("big/two", &vec![2; 11 * 1024 * 1024]);
    author.ok(&["push", "-q", "origin", "HEAD:releases/acme"]);
    let error =
        export_project(&server.repository, &tip(&server.repository, "releases/acme"), &path("big"), &PROJECT_FILES)
            .expect_err("too big");
    assert_eq!(error.to_string(), "big: the files together have more than 20971520 bytes");
}

#[test]
fn unknown_branches_and_commits_are_named() {
    let server = Server::start();
    let branch = BranchName::parse("releases/none").expect("a branch name");
    let error = server.repository.require_branch_tip(&branch).expect_err("no branch");
    assert_eq!(error.to_string(), "there is no branch `releases/none`; push it first");
    let nowhere = CommitId::parse(&"7".repeat(40)).expect("an id");
    let error = export_project(&server.repository, &nowhere, &path("a"), &PROJECT_FILES).expect_err("no commit");
    assert!(matches!(error, Error::UnknownCommit { .. }), "{error}");
    assert!(matches!(server.repository.pin(&nowhere, "versions/x"), Err(Error::UnknownCommit { .. })));
}

#[test]
fn ancestry_and_pins_follow_commits_not_branches() {
    let server = Server::start();
    let repository = &server.repository;
    let author = Client::clone_from(&server.url(), &[]);
    author.commit("a", b"a");
    author.ok(&["push", "-q", "origin", "HEAD:releases/acme"]);
    let (old, new) = (tip(repository, "main"), tip(repository, "releases/acme"));
    assert!(repository.contains(&new, &old).expect("an answer"));
    assert!(repository.contains(&new, &new).expect("an answer"));
    assert!(!repository.contains(&old, &new).expect("an answer"));
    assert!(repository.is_older(&old, &new).expect("an answer"));
    assert!(!repository.is_older(&new, &new).expect("an answer"));
    assert!(!repository.is_older(&new, &old).expect("an answer"));

    repository.pin(&old, "builds/1").expect("a pin");
    repository.pin(&old, "builds/1").expect("the same pin");
    assert!(matches!(repository.pin(&new, "builds/1"), Err(Error::PinTaken { kept, .. }) if kept == old));
    assert!(matches!(repository.pin(&new, "../heads/main"), Err(Error::InvalidPin { .. })));
    assert_eq!(pinned(repository, "builds/1"), Some(old));
    assert_eq!(pinned(repository, "builds/3"), None);
}

fn commit_with_link(git: &git2::Repository) -> CommitId {
    let file = git.blob(b"/etc/passwd").expect("a blob");
    let one = |name: &str, id, mode| {
        let mut tree = git.treebuilder(None).expect("a tree");
        tree.insert(name, id, mode).expect("an entry");
        tree.write().expect("a tree")
    };
    let mut projects = git.treebuilder(None).expect("a tree");
    projects.insert("b", one("link", file, 0o120_000), 0o040_000).expect("an entry");
    projects.insert("good", one("file", file, 0o100_644), 0o040_000).expect("an entry");
    let root = git.find_tree(one("a", projects.write().expect("a tree"), 0o040_000)).expect("a tree");
    let author = git2::Signature::now("Eve", "eve@example.org").expect("a signature");
    git.commit(None, &author, &author, "link", &root, &[]).expect("a commit").into()
}
