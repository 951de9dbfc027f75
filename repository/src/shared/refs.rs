//! The refs of a repository, read and written as a whole.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

use git2::Repository;

use crate::commits::is_descendant;
use crate::ref_names::HELD_REFS;

/// The hexadecimal ids of commits, by the full names of refs.
pub(super) type Refs = BTreeMap<String, String>;

const REFS_FILE: &str = "packed-refs";
const NEW_REFS_FILE: &str = "packed-refs.new";
/// The first line of the file.
const HEAD: &str = "# pack-refs with: sorted \n";

/// Reads all refs except symbolic ones and those of a garbage collection.
pub(super) fn read(repository: &Path) -> Result<Refs, git2::Error> {
    let git = Repository::open_bare(repository)?;
    let mut refs = Refs::new();
    for reference in git.references()? {
        let reference = reference?;
        if let (Ok(name), Some(target)) = (reference.name(), reference.target())
            && !name.starts_with(HELD_REFS)
        {
            refs.insert(name.to_owned(), target.to_string());
        }
    }
    Ok(refs)
}

/// Replaces all refs at once. The repository has no refs in files of their own.
pub(super) fn write(repository: &Path, refs: &Refs) -> io::Result<()> {
    let lines: String = refs.iter().map(|(name, target)| format!("{target} {name}\n")).collect();
    let new = repository.join(NEW_REFS_FILE);
    let mut file = File::create(&new)?;
    file.write_all(HEAD.as_bytes())?;
    file.write_all(lines.as_bytes())?;
    file.sync_all()?;
    std::fs::rename(new, repository.join(REFS_FILE))
}

/// Whether a ref was deleted, or no longer contains its former commit.
pub(super) fn has_rewritten(repository: &Path, old: &Refs, new: &Refs) -> Result<bool, git2::Error> {
    let git = Repository::open_bare(repository)?;
    for (name, old) in old {
        let is_kept = match new.get(name) {
            Some(new) if new == old => true,
            Some(new) => is_descendant(&git, new.parse()?, old.parse()?)?,
            None => false,
        };
        if !is_kept {
            return Ok(true);
        }
    }
    Ok(false)
}

#[cfg(test)]
mod tests {
    use git2::Oid;

    use super::*;

    #[test]
    fn all_refs_are_replaced_at_once() {
        let directory = tempfile::tempdir().expect("a directory");
        let git = Repository::init_bare(directory.path()).expect("a repository");
        let tree = git.find_tree(git.treebuilder(None).and_then(|tree| tree.write()).expect("a tree")).expect("a tree");
        let who = git2::Signature::new("Ada", "ada@example.org", &git2::Time::new(0, 0)).expect("a signature");
        let first = git.commit(None, &who, &who, "first", &tree, &[]).expect("a commit");
        let parent = git.find_commit(first).expect("a commit");
        let second = git.commit(None, &who, &who, "second", &tree, &[&parent]).expect("a commit");
        let refs = |pairs: &[(&str, Oid)]| -> Refs {
            pairs.iter().map(|(name, id)| ((*name).to_owned(), id.to_string())).collect()
        };
        let old = refs(&[("refs/heads/main", first), ("refs/heads/releases/acme", first), ("refs/lathe/x", first)]);
        let new = refs(&[("refs/heads/releases/acme", second), ("refs/heads/main", first), ("refs/lathe/x", first)]);
        for refs in [&old, &new] {
            write(directory.path(), refs).expect("written");
            assert_eq!(&read(directory.path()).expect("refs"), refs);
        }
        let rewritten = |old, new| has_rewritten(directory.path(), old, new).expect("commits");
        assert!(!rewritten(&old, &new) && rewritten(&new, &old));
        assert!(rewritten(&old, &refs(&[("refs/heads/main", first)])));
    }
}
