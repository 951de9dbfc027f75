//! What git refuses before the hook, and what the hook refuses: each with a reason and what to run next, on the author's terminal.

use serde_json::json;

use crate::harness::{Bump, Repository, Said, Team};

/// A line of an author or a committer.
const PERSON: &str = "Ada <ada@example.org> 1700000000 +0000";

fn push(team: &Team, repository: &Repository, to: &str) -> Said {
    repository.git(&["push", "--force", &team.git_url(), &format!("HEAD:{to}")])
}

/// Writes an object as old programs did, without git's checks.
fn write_object(team: &Team, kind: &str, bytes: &[u8]) -> String {
    let file = team.home().join("object");
    std::fs::write(&file, bytes).expect("a file");
    team.repository.ok(&["hash-object", "-t", kind, "--literally", "-w", file.to_str().expect("UTF-8")])
}

/// A commit of a tree on top of the present one, with this author, and checks it out.
fn commit_as(team: &Team, person: &str, tree: &str) -> String {
    let parent = team.repository.ok(&["rev-parse", "HEAD"]);
    let text = format!("tree {tree}\nparent {parent}\nauthor {person}\ncommitter {person}\n\nold\n");
    let commit = write_object(team, "commit", text.as_bytes());
    team.repository.ok(&["update-ref", "HEAD", &commit]);
    commit
}

fn raw_entry(mode: &str, name: &[u8], id: &str) -> Vec<u8> {
    let id: Vec<u8> = (0..40).step_by(2).map(|at| u8::from_str_radix(&id[at..at + 2], 16).expect("an id")).collect();
    [mode.as_bytes(), b" ", name, b"\0", &id].concat()
}

/// Pushes a tree of these entries, on a branch of its own, and returns what git says.
fn push_tree(team: &Team, entries: &[Vec<u8>]) -> Said {
    let tree = write_object(team, "tree", &entries.concat());
    let commit =
        write_object(team, "commit", format!("tree {tree}\nauthor {PERSON}\ncommitter {PERSON}\n\nx\n").as_bytes());
    team.repository.git(&["push", &team.git_url(), &format!("{commit}:refs/heads/releases/odd")])
}

#[test]
fn old_commits_are_pushed_and_published() {
    let team = Team::new();
    let tool = team.tool("old_history").pushed();
    tool.publish(Bump::Major).expect(201);
    for (number, person) in [
        "Ada <ada@example.org> 1700000000 +051800",
        "Ada 1700000000 +0000",
        "Ada<ada@example.org> 1700000000 +0000",
        "<ada@example.org> 1700000000 +0000",
        "Ada <ada@example.org>1700000000 +0000",
        "Ada <ada <at> example.org> 1700000000 +0000",
        "Ada <ada@example.org 1700000000 +0000",
        "Ada> <ada@example.org> 1700000000 +0000",
        "Ada <ada@example.org> 01700000000 +0000",
        "Ada <ada@example.org> 99999999999999999999 +0000",
    ]
    .into_iter()
    .enumerate()
    {
        team.repository.write("number.txt", number.to_string().as_bytes());
        team.repository.ok(&["add", "--all"]);
        let tree = team.repository.ok(&["write-tree"]);
        let commit = commit_as(&team, person, &tree);
        push(&team, &team.repository, &team.branch()).ok();
        let heads = team.repository.ok(&["ls-remote", &team.git_url(), &team.branch()]);
        assert!(heads.starts_with(&commit), "{person}: {heads}");
    }
    tool.publish(Bump::Minor).expect(201);
    let newer = tool.body("return 'newer'").pushed();
    newer.publish(Bump::Minor).expect(201);
    assert_eq!(newer.invoke(json!({})).output(), "newer");
    // The commits are ancestors of what was published.
    push(
        &team,
        &Repository::clone_from(team.home(), "older", &team.git_url(), &["--branch", &team.branch()]),
        "releases/older",
    )
    .ok();
    let clone = Repository::clone_from(team.home(), "again", &team.git_url(), &["--branch", "releases/older"]);
    clone.ok(&["reset", "-q", "--hard", "HEAD~2"]);
    push(&team, &clone, "releases/older").ok();
    let body = json!({"project_path": newer.path(), "bump_type": "minor", "commit_branch": "releases/older"});
    let refused = team.post(&format!("/tool/{}/version", newer.id()), &body);
    assert!(refused.status >= 400 && refused.to_string().contains("older"), "{refused}");
}

#[test]
fn a_zero_padded_mode_is_pushed_and_published() {
    let team = Team::new();
    let tool = team.tool("padded");
    team.repository.commit();
    let root = team.repository.ok(&["rev-parse", "HEAD^{tree}"]);
    let tools = team.repository.ok(&["rev-parse", "HEAD:tools"]);
    let tree = write_object(&team, "tree", &raw_entry("040000", b"tools", &tools));
    assert_ne!(tree, root);
    commit_as(&team, PERSON, &tree);
    push(&team, &team.repository, &team.branch()).ok();
    tool.publish(Bump::Major).expect(201);
    assert_eq!(tool.invoke(json!({"a": 1})).json(), json!({"a": 1}));
}

#[test]
fn malformed_objects_are_refused_with_the_object_and_a_way_on() {
    let team = Team::new();
    team.tool("malformed");
    team.repository.commit();
    let tree = team.repository.ok(&["rev-parse", "HEAD^{tree}"]);
    for (text, words) in [
        (format!("tree {tree}\nauthor Ada <a@b> soon +0000\ncommitter {PERSON}\n\nx\n"), "badDate"),
        (format!("tree {tree}\nauthor {PERSON}\nauthor {PERSON}\ncommitter {PERSON}\n\nx\n"), "multipleAuthors"),
        (format!("tree {tree}\nauthor {PERSON}\n\nx\n"), "missingCommitter"),
        (format!("tree {tree}\nauthor {PERSON}\ncommitter {PERSON}\n\na\0b\n"), "nulInCommit"),
    ] {
        let commit = write_object(&team, "commit", text.as_bytes());
        let said = team.repository.git(&["push", &team.git_url(), &format!("{commit}:refs/heads/releases/odd")]);
        let way_on = format!("git push origin HEAD:releases/{}", team.organization);
        said.refused(
            1,
            &[words, &format!("the object {commit} of its history malformed"), "git checkout --orphan", &way_on],
        );
    }
    let undated = format!("tree {tree}\nauthor nobody\ncommitter nobody\n\nx\n");
    let commit = write_object(&team, "commit", undated.as_bytes());
    let said = team.repository.git(&["push", &team.git_url(), &format!("{commit}:refs/heads/releases/odd")]);
    said.refused(
        1,
        &[&format!("remote: commit {commit}: its line `author nobody` has no date"), "git checkout --orphan"],
    );
}

#[test]
fn trees_are_refused_with_the_path_and_a_way_on() {
    let team = Team::new();
    let file = write_object(&team, "blob", b"x");
    let modules = write_object(&team, "blob", b"[submodule \"x\"]\n\tpath = x\n\turl = -u./x\n");
    let entry = |mode: &str, name: &str| raw_entry(mode, name.as_bytes(), &file);
    let check = |entries: &[Vec<u8>], words: &[&str]| push_tree(&team, entries).refused(1, words);
    check(
        &[entry("120000", "link")],
        &["link: symbolic links are not accepted", "git rebase -i", "git checkout --orphan"],
    );
    check(
        &[entry("160000", "module")],
        &["module: submodules are not accepted", "git rm --cached", "git checkout --orphan"],
    );
    check(
        &[raw_entry("100644", b".gitmodules", &modules)],
        &["`.gitmodules` declares submodules", "git rm .gitmodules"],
    );
    check(&[entry("100644", "same"), entry("100644", "same")], &["same: the directory has this name twice"]);
    check(
        &[entry("100644", "Tool.py"), entry("100644", "tool.py")],
        &["differs only in case from `Tool.py`", "git mv"],
    );
    check(&[entry("100644", "cafe\u{301}"), entry("100644", "caf\u{e9}")], &["composed or decomposed", "git mv"]);
    check(&[entry("100644", "a/b")], &["the name is empty, `.` or `..`, or contains"]);
    let tree = write_object(&team, "tree", &entry("100644", "f"));
    check(&[raw_entry("40000", b"..", &tree)], &["remote: commit ", "the name is empty, `.` or `..`"]);
}

#[test]
fn a_shallow_clone_of_another_repository_is_refused_with_the_way_to_its_history() {
    let team = Team::new();
    team.tool("deep");
    for _ in 0..3 {
        team.repository.commit();
    }
    let origin = format!("file://{}", team.repository.directory.display());
    let shallow = Repository::clone_from(team.home(), "shallow", &origin, &["--depth", "1"]);
    let said = push(&team, &shallow, &team.branch());
    said.refused(
        1,
        &[
            "shallow update not allowed",
            "remote: The push is refused because this clone is shallow",
            "git fetch --unshallow",
        ],
    );
    shallow.ok(&["fetch", "-q", "--unshallow"]);
    push(&team, &shallow, &team.branch()).ok();
}

#[test]
fn names_and_kinds_of_refs_are_refused_with_what_is_wrong() {
    let team = Team::new();
    team.push();
    let next = format!("git push origin HEAD:releases/{}", team.organization);
    let check = |target: &str, words: &[&str]| {
        let said = team.repository.git(&["push", &team.git_url(), target]);
        said.refused(1, &[words, &["remote: ", &next]].concat());
    };
    check(&format!("HEAD:refs/heads/{}", "b".repeat(201)), &["has 201 bytes, and 200 are the most"]);
    check("HEAD:refs/heads/-x", &["the name of the branch -x could not be given to a test or a publication"]);
    check("HEAD:refs/heads/@", &["the name of the branch @ could not be given"]);
    check("HEAD:refs/tags/v1", &["refs/tags/v1 is not a branch, and tags are not kept here"]);
    check("HEAD:refs/notes/commits", &["refs/notes/commits is not a branch, and only branches are kept here"]);
    let branch = team.branch();
    let below = format!("HEAD:refs/heads/{branch}/x");
    check(
        &below,
        &[&format!("cannot exist beside the branch {branch}"), &format!("git push origin --delete {branch}")],
    );
    check(
        &format!("HEAD:refs/heads/{}", branch.to_uppercase().replace("RELEASES/", "releases/")),
        &["do not tell the names apart"],
    );
    let said = team.repository.git(&["push", &team.git_url(), "HEAD:refs/heads/x/y", "HEAD:refs/heads/x"]);
    said.refused(1, &["cannot exist beside the branch x"]);
    // A branch that the same push deletes is not in the way.
    team.repository.ok(&["push", "-q", &team.git_url(), "HEAD:refs/heads/a"]);
    team.repository.ok(&["tag", "-a", "-m", "x", "v1"]);
    let said = team.repository.git(&["push", &team.git_url(), "v1:refs/heads/releases/tagged"]);
    said.refused(1, &["would name the tag ", "git push origin 'TAG^{commit}:refs/heads/releases/tagged'"]);
    team.repository.ok(&["push", "-q", &team.git_url(), "v1^{commit}:refs/heads/releases/tagged"]);
}

#[test]
fn atomic_pushes_and_push_options_are_accepted() {
    let team = Team::new();
    team.push();
    team.repository.ok(&["push", "-q", "--atomic", &team.git_url(), "HEAD:refs/heads/one", "HEAD:refs/heads/two"]);
    let said = team.repository.git(&["push", "-o", "ci.skip", &team.git_url(), "HEAD:refs/heads/three"]).ok();
    assert!(said.stderr.contains("push options have no effect here"), "{said:?}");
    let said =
        team.repository.git(&["push", "--atomic", &team.git_url(), "HEAD:refs/heads/four", "+HEAD:refs/heads/main"]);
    said.refused(1, &["main belongs to the service"]);
    let refs = team.repository.ok(&["ls-remote", &team.git_url()]);
    assert!(refs.contains("refs/heads/three") && !refs.contains("refs/heads/four"), "{refs}");
}

#[test]
fn pointers_are_never_built() {
    let team = Team::new();
    let tool = team.tool("pointing").pushed();
    let oid = "4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393";
    let pointer = format!("version https://git-lfs.github.com/spec/v1\noid sha256:{oid}\nsize 12345\n");
    let tool = tool.with_file("data/model.bin", &pointer);
    team.repository.commit();
    let said = push(&team, &team.repository, &team.branch()).ok();
    assert!(said.stderr.contains("is a pointer of Git LFS") && said.stderr.contains("git lfs ls-files"), "{said:?}");
    for answer in [tool.publish(Bump::Major), tool.test(&json!({}))] {
        answer.expect(400);
        for word in
            ["data/model.bin: the file is a pointer of Git LFS for a file of 12345 bytes", "git lfs untrack model.bin"]
        {
            assert!(answer.detail().contains(word), "{word}: {answer}");
        }
    }
    let local =
        team.lathe().run(&["tool", "test", team.repository.directory.join(tool.path()).to_str().expect("UTF-8")]);
    local.refused(1, &["data/model.bin: the file is a pointer of Git LFS"]);
    tool.with_file("data/model.bin", "the model").pushed().publish(Bump::Major).expect(201);
}

#[test]
fn git_and_git_lfs_show_the_words_of_a_refusal() {
    let team = Team::new();
    team.push();
    let wrong = format!("{}_{}:not-a-token", team.organization, team.user);
    let said = team.repository.git(&["ls-remote", &team.git_url_with(&wrong)]);
    assert!(said.code != Some(0) && said.stderr.contains("remote: "), "{said:?}");
    let elsewhere = team.git_url().replace("tools.git", "other.git");
    let said = team.repository.git(&["ls-remote", &elsewhere]);
    assert!(said.stderr.contains("remote: ") && said.stderr.contains("/tool/git/tools.git"), "{said:?}");
    let batch = |agent: &str| {
        let request = team.request("POST", "/tool/git/tools.git/info/lfs/objects/batch").header("user-agent", agent);
        request.json(&json!({"operation": "upload", "objects": []})).send()
    };
    let answer = batch("git-lfs/3.3.0");
    assert_eq!((answer.status, &answer.json()["code"]), (400, &json!("git_lfs_not_served")), "{answer}");
    assert!(
        answer.json()["message"].as_str().is_some_and(|words| words.contains("git lfs migrate export")),
        "{answer}"
    );
    assert_eq!(batch("curl").code(), "git_lfs_not_served");
}
