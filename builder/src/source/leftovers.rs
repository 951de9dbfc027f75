//! What git leaves in a repository when it is stopped in the middle: quarantine directories, and locks of refs.
//!
//! Since a signal may arrive anywhere, git removes neither reliably; a stopped push must not fill the disk, and a stale
//! lock must not block its branch for ever.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::Path;

/// How git names the directories below `objects` that it receives packs into.
const QUARANTINE_PREFIX: &[u8] = b"tmp_objdir-";

/// Removes quarantine directories. Only while no push to this repository runs.
pub(super) fn remove_quarantines(repository: &Path) {
    let remove = || -> io::Result<()> {
        for entry in fs::read_dir(repository.join("objects"))? {
            let entry = entry?;
            if entry.file_name().as_encoded_bytes().starts_with(QUARANTINE_PREFIX) {
                fs::remove_dir_all(entry.path())?;
            }
        }
        Ok(())
    };
    report(repository, remove());
}

/// Removes locks of refs. Only while nothing else uses this repository, which is at the start of a server.
pub(super) fn remove_locks(repository: &Path) {
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

/// Nobody waits for the removal, and the next one tries again.
fn report(repository: &Path, removed: io::Result<()>) {
    if let Err(error) = removed {
        tracing::warn!(repository = %repository.display(), %error, "what a stopped push left behind could not be removed");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leftovers_go_and_everything_else_stays() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let root = directory.path();
        for path in ["objects/tmp_objdir-incoming-a1/pack", "objects/pack", "refs/heads/releases"] {
            fs::create_dir_all(root.join(path)).expect("a directory");
        }
        for path in ["objects/pack/tmp_pack", "refs/heads/releases/acme", "refs/heads/releases/acme.lock"] {
            fs::write(root.join(path), "x").expect("a file");
        }
        remove_quarantines(root);
        remove_locks(root);
        assert!(!root.join("objects/tmp_objdir-incoming-a1").exists());
        assert!(!root.join("refs/heads/releases/acme.lock").exists());
        assert!(root.join("objects/pack/tmp_pack").exists() && root.join("refs/heads/releases/acme").exists());
    }
}
