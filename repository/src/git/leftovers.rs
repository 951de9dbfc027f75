//! Removes the files that a stopped git leaves in a repository: quarantine directories, temporary packs, marks of packs, and
//! locks of refs. Also removes the repositories and hooks that a killed server did not finish.
//!
//! A signal may arrive at any time, so that git does not remove them reliably. A stopped push must not fill the disk, and
//! a stale lock must not block its branch.

use std::ffi::OsStr;
use std::fs;
use std::io::{self, Read};
use std::path::Path;

/// The prefix of git's directories for incoming packs, below `objects`.
const QUARANTINE_PREFIX: &[u8] = b"tmp_objdir-";
/// The prefixes of packs that git is writing.
const TEMPORARY_PREFIXES: [&[u8]; 2] = [b"tmp_", b".tmp-"];
/// The prefix of repositories and hooks that are renamed when they are complete.
pub(crate) const UNFINISHED_PREFIX: &str = ".new-";
/// The first bytes of a mark (`pack-….keep`) that a push makes.
const PUSH_MARK: &[u8] = b"receive-pack ";

/// Removes quarantine directories. No push to the repository may be running.
pub(crate) fn remove_quarantines(repository: &Path) {
    let remove = || -> io::Result<()> {
        for entry in fs::read_dir(repository.join("objects"))? {
            let entry = entry?;
            if starts_with(&entry.file_name(), QUARANTINE_PREFIX) {
                fs::remove_dir_all(entry.path())?;
            }
        }
        Ok(())
    };
    report(repository, remove());
}

/// Removes temporary packs, and the marks with which pushes protect their packs from collection. Neither a push nor a
/// collection may be running.
pub(crate) fn remove_stopped_packs(repository: &Path) {
    let remove = || -> io::Result<()> {
        for entry in fs::read_dir(repository.join("objects/pack"))? {
            let entry = entry?;
            let is_temporary = TEMPORARY_PREFIXES.iter().any(|prefix| starts_with(&entry.file_name(), prefix));
            if is_temporary || is_mark_of_push(&entry.path())? {
                fs::remove_file(entry.path())?;
            }
        }
        Ok(())
    };
    report(repository, remove());
}

/// Whether a file is a push's mark. An operator's own mark has another text.
fn is_mark_of_push(path: &Path) -> io::Result<bool> {
    if path.extension() != Some(OsStr::new("keep")) {
        return Ok(false);
    }
    let mut text = Vec::new();
    fs::File::open(path)?.take(PUSH_MARK.len() as u64).read_to_end(&mut text)?;
    Ok(text == PUSH_MARK)
}

fn starts_with(name: &OsStr, prefix: &[u8]) -> bool {
    name.as_encoded_bytes().starts_with(prefix)
}

/// Removes locks of refs. Nothing else may use the repository, so that only a starting server calls this.
pub(crate) fn remove_locks(repository: &Path) {
    report(repository, remove_locks_below(&repository.join("refs")));
}

fn remove_locks_below(directory: &Path) -> io::Result<()> {
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        if path.is_dir() {
            remove_locks_below(&path)?;
        } else if path.extension() == Some(OsStr::new("lock")) {
            fs::remove_file(path)?;
        }
    }
    Ok(())
}

/// Removes repositories and hooks that are not complete. Only a starting server calls this, before it makes others.
pub(crate) fn remove_unfinished(directory: &Path) {
    let remove = || -> io::Result<()> {
        for entry in fs::read_dir(directory)? {
            let path = entry?.path();
            let is_unfinished = path.file_name().is_some_and(|name| starts_with(name, UNFINISHED_PREFIX.as_bytes()));
            match is_unfinished {
                true if path.is_dir() => fs::remove_dir_all(path)?,
                true => fs::remove_file(path)?,
                false => {}
            }
        }
        Ok(())
    };
    report(directory, remove());
}

/// Logs a failed removal. The next removal tries again.
fn report(repository: &Path, removed: io::Result<()>) {
    if let Err(error) = removed {
        tracing::warn!(repository = %repository.display(), %error, "the files of a stopped push or server could not be removed");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_unfinished_repositories_and_hooks_are_removed() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let root = directory.path();
        fs::create_dir_all(root.join(".new-Xy/repository")).expect("a directory");
        fs::create_dir_all(root.join("acme.git")).expect("a directory");
        fs::write(root.join(".new-hook"), "#!").expect("a file");
        remove_unfinished(root);
        let names: Vec<_> = fs::read_dir(root).expect("a directory").flatten().map(|entry| entry.file_name()).collect();
        assert_eq!(names, ["acme.git"]);
    }

    #[test]
    fn only_leftovers_are_removed() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let root = directory.path();
        for path in ["objects/tmp_objdir-incoming-a1/pack", "objects/pack", "refs/heads/releases"] {
            fs::create_dir_all(root.join(path)).expect("a directory");
        }
        for path in ["objects/pack/pack-1.pack", "refs/heads/releases/acme", "refs/heads/releases/acme.lock"] {
            fs::write(root.join(path), "x").expect("a file");
        }
        for path in ["objects/pack/tmp_pack_a", "objects/pack/.tmp-1-pack-2.idx", "objects/pack/pack-3.keep"] {
            fs::write(root.join(path), "receive-pack 7 on here\n").expect("a file");
        }
        fs::write(root.join("objects/pack/pack-4.keep"), "mine\n").expect("a file");
        remove_quarantines(root);
        remove_locks(root);
        remove_stopped_packs(root);
        assert!(!root.join("objects/tmp_objdir-incoming-a1").exists());
        assert!(!root.join("refs/heads/releases/acme.lock").exists());
        let packs = fs::read_dir(root.join("objects/pack")).expect("a directory").flatten();
        let mut packs: Vec<_> = packs.map(|entry| entry.file_name()).collect();
        packs.sort();
        assert_eq!(packs, ["pack-1.pack", "pack-4.keep"]);
        assert!(root.join("refs/heads/releases/acme").exists());
    }
}
