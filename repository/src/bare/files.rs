//! The files of repositories: the first commit, and the hook that all repositories share.

use std::ffi::OsStr;
use std::fs::{self, File, Permissions};
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use git2::{Index, IndexEntry, IndexTime, Oid, RepositoryInitOptions, Signature, Time};
use registry::Timestamp;

use crate::error::Error;
use crate::git::{HOOKS_DIRECTORY, UNFINISHED_PREFIX, remove_unfinished, write_settings};
use crate::ref_names::MAIN_REF;

/// git runs as the owner of the data directory; no other user needs to read or start the hook.
const HOOK_MODE: u32 = 0o700;

/// The path of the shared hook.
pub(crate) fn hook_path(root: &Path) -> PathBuf {
    root.join(HOOKS_DIRECTORY).join("pre-receive")
}

/// Writes the hook that starts `program`, and replaces an older hook atomically.
pub(crate) fn write_hook(root: &Path, program: &Path) -> Result<(), Error> {
    let write = || -> io::Result<()> {
        fs::create_dir_all(root.join(HOOKS_DIRECTORY))?;
        remove_unfinished(&root.join(HOOKS_DIRECTORY));
        let mut file = tempfile::Builder::new()
            .prefix(UNFINISHED_PREFIX)
            .permissions(Permissions::from_mode(HOOK_MODE))
            .tempfile_in(root.join(HOOKS_DIRECTORY))?;
        file.write_all(&build_hook_script(program.as_os_str()))?;
        file.as_file().set_permissions(Permissions::from_mode(HOOK_MODE))?;
        file.as_file().sync_all()?;
        file.persist(hook_path(root))?;
        Ok(())
    };
    write().map_err(Error::io("write the hook"))
}

/// The hook's script. It lifts git's limit of address space, since the hook's runtime reserves more than it uses.
fn build_hook_script(program: &OsStr) -> Vec<u8> {
    let quoted = program.as_bytes().split(|byte| *byte == b'\'').collect::<Vec<_>>().join(b"'\\''".as_slice());
    let before = b"#!/bin/sh\nulimit -S -v unlimited 2>/dev/null || :\nexec '".as_slice();
    [before, &quoted, b"' internal pre-receive\n"].concat()
}

/// Makes a bare repository at `path`, with one commit of `files` on `main`.
pub(crate) fn write_repository(path: &Path, files: &[(String, Vec<u8>)], now: Timestamp) -> Result<(), Error> {
    let mut options = RepositoryInitOptions::new();
    options.bare(true).no_reinit(true).external_template(false).initial_head("main");
    let repository = git2::Repository::init_opts(path, &options).map_err(Error::git("create a repository"))?;
    write_settings(path).map_err(Error::io("write the repository's settings"))?;
    write_first_commit(&repository, files, now).map_err(Error::git("write the first commit"))
}

/// Makes a copy that lies in its place a repository: adds the settings and the directories that git needs.
pub fn complete_repository(path: &Path) -> Result<(), Error> {
    let mut options = RepositoryInitOptions::new();
    options.bare(true).no_reinit(true).external_template(false).initial_head("main");
    git2::Repository::init_opts(path, &options).map_err(Error::git("complete a repository"))?;
    write_settings(path).map_err(Error::io("write the repository's settings"))?;
    sync_below(path).map_err(Error::io("make the repository durable"))
}

fn write_first_commit(
    repository: &git2::Repository,
    files: &[(String, Vec<u8>)],
    now: Timestamp,
) -> Result<(), git2::Error> {
    let mut index = Index::new()?;
    for (path, content) in files {
        index.add(&build_entry(path, repository.blob(content)?))?;
    }
    let tree = repository.find_tree(index.write_tree_to(repository)?)?;
    let seconds = now.as_milliseconds().div_euclid(1_000);
    let author = Signature::new("Lathe", "lathe@localhost", &Time::new(seconds, 0))?;
    repository.commit(Some(MAIN_REF), &author, &author, "Scaffold\n", &tree, &[])?;
    Ok(())
}

fn build_entry(path: &str, id: Oid) -> IndexEntry {
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
pub(crate) fn sync_below(directory: &Path) -> io::Result<()> {
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
        let script = String::from_utf8(build_hook_script(OsStr::new("/o'brien/lathe"))).expect("UTF-8");
        assert!(script.ends_with("exec '/o'\\''brien/lathe' internal pre-receive\n"), "{script}");
    }
}
