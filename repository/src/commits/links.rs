//! The tree and the parents of a commit, read from its bytes.
//!
//! libgit2 does not read commits without an e-mail address or with an impossible date, which tools of other systems wrote for years. A
//! build needs neither.

use std::collections::HashSet;

use git2::{ErrorClass, ErrorCode, ObjectType, Odb, Oid};

/// Characters of an id in hexadecimal.
const ID_CHARACTERS: usize = 40;

/// The objects that a commit names.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct CommitLinks {
    pub tree: Oid,
    pub parents: Vec<Oid>,
    /// The line of the author or the committer that has no date.
    pub undated: Option<String>,
}

/// Reads a commit. The error of an id that is not a commit is [`ErrorCode::NotFound`].
pub(crate) fn read_links(objects: &Odb<'_>, commit: Oid) -> Result<CommitLinks, git2::Error> {
    let object = objects.read(commit)?;
    if object.kind() != ObjectType::Commit {
        return Err(git2::Error::new(ErrorCode::NotFound, ErrorClass::Invalid, format!("{commit} is not a commit")));
    }
    let malformed = || git2::Error::new(ErrorCode::Invalid, ErrorClass::Object, format!("{commit} has no tree"));
    parse(object.data()).ok_or_else(malformed)
}

/// The first line of a commit's message, if there is one.
pub(crate) fn read_subject(objects: &Odb<'_>, commit: Oid) -> Option<String> {
    let object = objects.read(commit).ok()?;
    let end = object.data().windows(2).position(|two| two == b"\n\n")?;
    let message = String::from_utf8_lossy(&object.data()[end..]).into_owned();
    message.lines().map(str::trim).find(|line| !line.is_empty()).map(str::to_owned)
}

/// Whether `older` is an ancestor of `newer`.
pub(crate) fn is_descendant(git: &git2::Repository, newer: Oid, older: Oid) -> Result<bool, git2::Error> {
    // libgit2 goes by the dates of commits, and looks at few of them. It ends at one that it cannot read.
    if let Ok(found) = git.graph_descendant_of(newer, older) {
        return Ok(found);
    }
    let objects = git.odb()?;
    let (mut seen, mut open) = (HashSet::new(), vec![newer]);
    while let Some(commit) = open.pop() {
        for parent in read_links(&objects, commit)?.parents {
            if parent == older {
                return Ok(true);
            }
            if seen.insert(parent) {
                open.push(parent);
            }
        }
    }
    Ok(false)
}

fn parse(commit: &[u8]) -> Option<CommitLinks> {
    let mut lines = commit.split(|byte| *byte == b'\n').take_while(|line| !line.is_empty());
    let tree = read_id_after(b"tree ", lines.next()?)?;
    let (mut parents, mut undated) = (Vec::new(), None);
    for line in lines {
        if let Some(parent) = read_id_after(b"parent ", line) {
            parents.push(parent);
        }
        if (line.starts_with(b"author ") || line.starts_with(b"committer ")) && !has_date(line) {
            undated.get_or_insert_with(|| String::from_utf8_lossy(line).into_owned());
        }
    }
    Some(CommitLinks { tree, parents, undated })
}

/// Whether the line of a person has a number of seconds after the e-mail address, or at its end. What follows it, the zone, may be
/// anything.
fn has_date(person: &[u8]) -> bool {
    let end = person.rsplit(|byte| *byte == b'>').next().unwrap_or(person);
    let words = end.split(|byte| *byte == b' ').rev().filter(|word| !word.is_empty());
    words.take(2).any(|word| word.iter().all(u8::is_ascii_digit))
}

fn read_id_after(word: &[u8], line: &[u8]) -> Option<Oid> {
    let id = std::str::from_utf8(line.strip_prefix(word)?).ok()?;
    (id.len() == ID_CHARACTERS).then(|| id.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    const WITHOUT_EMAIL: &str = "Ada 1700000000 +0000";

    fn write(git: &git2::Repository, parents: &[Oid], message: &str) -> Oid {
        let tree = git.treebuilder(None).and_then(|tree| tree.write()).expect("a tree");
        let parents: String = parents.iter().map(|parent| format!("parent {parent}\n")).collect();
        let text = format!("tree {tree}\n{parents}author {WITHOUT_EMAIL}\ncommitter {WITHOUT_EMAIL}\n\n{message}");
        git.odb().and_then(|objects| objects.write(ObjectType::Commit, text.as_bytes())).expect("a commit")
    }

    #[test]
    fn commits_that_libgit2_does_not_read_have_a_tree_parents_a_subject_and_ancestors() {
        let directory = tempfile::tempdir().expect("a directory");
        let git = git2::Repository::init_bare(directory.path()).expect("a repository");
        let objects = git.odb().expect("objects");
        let [first, other] = ["\nfirst\nmore\n", "other"].map(|message| write(&git, &[], message));
        let merge = write(&git, &[first, other], "");
        let last = write(&git, &[merge], "last");
        assert!(git.find_commit(first).is_err());
        let links = read_links(&objects, merge).expect("links");
        assert_eq!(links.parents, [first, other]);
        assert!(git.find_tree(links.tree).is_ok());
        let subjects = [first, other, merge].map(|commit| read_subject(&objects, commit));
        assert_eq!(subjects, [Some("first".to_owned()), Some("other".to_owned()), None]);
        for (newer, older, expected) in
            [(last, first, true), (last, other, true), (first, last, false), (other, first, false)]
        {
            assert_eq!(is_descendant(&git, newer, older).expect("a history"), expected);
        }
        let refused = read_links(&objects, links.tree).expect_err("a tree");
        assert_eq!(refused.code(), ErrorCode::NotFound);
    }

    #[test]
    fn what_does_not_begin_with_a_tree_has_no_links() {
        let id = "1".repeat(40);
        for malformed in [String::new(), format!("parent {id}\n"), "tree 12\n".to_owned(), format!("tree {id}1\n")] {
            assert_eq!(parse(malformed.as_bytes()), None, "{malformed}");
        }
        assert!(parse(format!("tree {id}").as_bytes()).is_some_and(|links| links.parents.is_empty()));
    }

    #[test]
    fn a_person_without_a_date_is_found() {
        for dated in [
            "author Ada <ada@example.org> 1700000000 +0000",
            "author Ada <ada@example.org>1700000000 +051800",
            "author Ada 1700000000 +0000",
            "author <> 0170000000 UTC",
            "author a <b <c> 99999999999999999999 -7",
            "author Ada <a@b> 1700000000",
        ] {
            assert!(has_date(dated.as_bytes()), "{dated}");
        }
        for undated in ["author nobody", "author Ada <ada@example.org>", "author Ada <7> x +0000", "author "] {
            assert!(!has_date(undated.as_bytes()), "{undated}");
        }
        let commit = format!("tree {}\nauthor nobody\ncommitter nobody\n\nauthor x\n", "1".repeat(40));
        assert_eq!(parse(commit.as_bytes()).and_then(|links| links.undated).as_deref(), Some("author nobody"));
    }
}
