//! The files of repositories: the first commit, and the hook that all repositories share.

use std::ffi::OsStr;
use std::fs::{self, File, Permissions};
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use git2::{Index, IndexEntry, IndexTime, Oid, RepositoryInitOptions, Signature, Time};
use registry::Timestamp;

use super::SourceError;
use super::leftovers::{UNFINISHED_PREFIX, remove_unfinished};
use super::pre_receive::MAIN_REF;
use super::repository_settings::{HOOKS_DIRECTORY, write_settings};

/// The prefix of refs that only the service reads and writes. Clients do not see them.
pub(super) const OWN_REFS: &str = "refs/lathe/";

/// The prefix of refs for commits that builds hold during a garbage collection. Pins are named after commits, so that no pin
/// has this prefix.
pub(super) const HELD_REFS: &str = "refs/lathe/held/";

/// git runs as the owner of the data directory; no other user needs to read or start the hook.
const HOOK_MODE: u32 = 0o700;

/// The path of the shared hook.
pub(super) fn hook_path(root: &Path) -> PathBuf {
    root.join(HOOKS_DIRECTORY).join("pre-receive")
}

/// Writes the hook that starts `program`, and replaces an older hook atomically.
pub(super) fn write_hook(root: &Path, program: &Path) -> Result<(), SourceError> {
    let write = || -> io::Result<()> {
        fs::create_dir_all(root.join(HOOKS_DIRECTORY))?;
        remove_unfinished(&root.join(HOOKS_DIRECTORY));
        let mut file = tempfile::Builder::new()
            .prefix(UNFINISHED_PREFIX)
            .permissions(Permissions::from_mode(HOOK_MODE))
            .tempfile_in(root.join(HOOKS_DIRECTORY))?;
        file.write_all(&hook_script(program.as_os_str()))?;
        file.as_file().set_permissions(Permissions::from_mode(HOOK_MODE))?;
        file.as_file().sync_all()?;
        file.persist(hook_path(root))?;
        Ok(())
    };
    write().map_err(SourceError::io("write the hook"))
}

/// The hook's script. It lifts git's limit of address space, since the hook's runtime reserves more than it uses.
fn hook_script(program: &OsStr) -> Vec<u8> {
    let quoted = program.as_bytes().split(|byte| *byte == b'\'').collect::<Vec<_>>().join(b"'\\''".as_slice());
    let before = b"#!/bin/sh\nulimit -S -v unlimited 2>/dev/null || :\nexec '".as_slice();
    [before, &quoted, b"' internal pre-receive\n"].concat()
}

/// Makes a bare repository at `path`, with one commit of `files` on `main`.
pub(super) fn write_repository(path: &Path, files: &[(String, Vec<u8>)], now: Timestamp) -> Result<(), SourceError> {
    let mut options = RepositoryInitOptions::new();
    options.bare(true).no_reinit(true).external_template(false).initial_head("main");
    let repository = git2::Repository::init_opts(path, &options).map_err(SourceError::git("create a repository"))?;
    write_settings(path).map_err(SourceError::io("write the repository's settings"))?;
    write_first_commit(&repository, files, now).map_err(SourceError::git("write the first commit"))
}

fn write_first_commit(
    repository: &git2::Repository,
    files: &[(String, Vec<u8>)],
    now: Timestamp,
) -> Result<(), git2::Error> {
    let mut index = Index::new()?;
    for (path, content) in files {
        index.add(&entry(path, repository.blob(content)?))?;
    }
    let tree = repository.find_tree(index.write_tree_to(repository)?)?;
    let seconds = now.as_milliseconds().div_euclid(1_000);
    let author = Signature::new("Lathe", "lathe@localhost", &Time::new(seconds, 0))?;
    repository.commit(Some(MAIN_REF), &author, &author, "Scaffold\n", &tree, &[])?;
    Ok(())
}

fn entry(path: &str, id: Oid) -> IndexEntry {
    let never = IndexTime::new(0, 0);
    IndexEntry {
        ctime: never,
        mtime: never,
        dev: 0,
        ino: 0,
        mode: 0o100_644,
        uid: 0,
        gid: 0,
        file_size: 0,
        id,
        flags: 0,
        flags_extended: 0,
        path: path.as_bytes().to_vec(),
    }
}

/// Syncs a new directory and everything below it.
pub(super) fn sync_below(directory: &Path) -> io::Result<()> {
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            sync_below(&entry.path())?;
        } else {
            File::open(entry.path())?.sync_all()?;
        }
    }
    File::open(directory)?.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quote_in_the_programs_path_stays_inside_the_word() {
        let script = String::from_utf8(hook_script(OsStr::new("/o'brien/lathe"))).expect("UTF-8");
        assert!(script.ends_with("exec '/o'\\''brien/lathe' internal pre-receive\n"), "{script}");
    }
}
