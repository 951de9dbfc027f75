//! Reads a project's directory as a push would contain it: without the files that git ignores, and with the bytes that a commit
//! of them has.

mod commit;
mod refusal;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use ignore::{DirEntry, WalkBuilder};
use repository::PROJECT_BYTES_MAX;

use self::commit::Checkout;
use self::refusal::{refuse, unreadable};
use crate::error::Error;

/// Files of a project. A project with more contains files that belong in `.gitignore`.
const FILES_MAX: usize = 10_000;

/// The directories of a project, for watching them.
///
/// # Errors
/// When a directory cannot be read.
pub fn folders(root: &Path) -> Result<Vec<PathBuf>, Error> {
    let mut found = Vec::new();
    for entry in walk(root) {
        let entry = entry.map_err(|error| unreadable(&error))?;
        if entry.file_type().is_some_and(|kind| kind.is_dir()) {
            found.push(entry.into_path());
        }
    }
    Ok(found)
}

/// The files of a project by their path within it. Hidden files are left out, since they are never published.
///
/// # Errors
/// When the files are too many or too large, or a file is a link or cannot be read or converted.
pub fn read(root: &Path) -> Result<BTreeMap<String, Vec<u8>>, Error> {
    let checkout = Checkout::find(root)?;
    let mut found = FilesRead::default();
    for entry in walk(root) {
        let entry = entry.map_err(|error| unreadable(&error))?;
        if entry.file_type().is_some_and(|kind| !kind.is_dir()) {
            found.add(make_relative(root, entry.path())?, entry.path())?;
        }
    }
    let Some(checkout) = checkout else { return Ok(found.files) };
    for path in checkout.list_tracked()? {
        let is_hidden = path.split('/').any(|name| name.starts_with('.'));
        if !is_hidden && !found.files.contains_key(&path) {
            let place = root.join(&path);
            found.add(path, &place)?;
        }
    }
    checkout.convert(&mut found.files)?;
    Ok(found.files)
}

/// Files that were read, and their bytes in total.
#[derive(Default)]
struct FilesRead {
    files: BTreeMap<String, Vec<u8>>,
    bytes: u64,
}

impl FilesRead {
    /// Reads a file, unless it has just vanished: editors replace files by renaming a new one.
    fn add(&mut self, path: String, place: &Path) -> Result<(), Error> {
        let read = fs::symlink_metadata(place).and_then(|metadata| {
            let is_read = metadata.is_file() && self.bytes + metadata.len() <= PROJECT_BYTES_MAX;
            Ok((metadata, if is_read { fs::read(place)? } else { Vec::new() }))
        });
        let (metadata, contents) = match read {
            Ok(read) => read,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(unreadable(&format!("{}: {error}", place.display()))),
        };
        if !metadata.is_file() {
            return Err(refuse("link", "links and special files are not accepted; commit the file itself", &path));
        }
        self.bytes += metadata.len();
        if self.bytes > PROJECT_BYTES_MAX || self.files.len() == FILES_MAX {
            let message = format!(
                "the project has more than {FILES_MAX} files or {PROJECT_BYTES_MAX} bytes; list files that do not belong to it \
                 in .gitignore"
            );
            return Err(refuse("size", &message, &path));
        }
        self.files.insert(path, contents);
        Ok(())
    }
}

fn walk(root: &Path) -> impl Iterator<Item = Result<DirEntry, ignore::Error>> {
    // `.gitignore` also applies in a directory that is not a git repository yet.
    WalkBuilder::new(root).require_git(false).ignore(false).build()
}

fn make_relative(root: &Path, path: &Path) -> Result<String, Error> {
    let path = path.strip_prefix(root).unwrap_or(path);
    let name = path.to_str().ok_or_else(|| refuse("utf-8", "the name is not UTF-8", &path.to_string_lossy()))?;
    Ok(name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn project(files: &[(&str, &str)]) -> tempfile::TempDir {
        let directory = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = directory.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        directory
    }

    #[test]
    fn ignored_files_are_left_out() {
        let project = project(&[
            ("tool.py", "pass"),
            ("src/deep/more.py", "pass"),
            (".gitignore", "*.pyc\nbuild/\n"),
            ("src/x.pyc", "0"),
            ("build/out.txt", "0"),
            (".venv/lib.py", "0"),
        ]);
        let found = read(project.path()).unwrap();
        assert_eq!(found.keys().collect::<Vec<_>>(), ["src/deep/more.py", "tool.py"]);
        let mut watched = folders(project.path()).unwrap();
        watched.sort();
        let names = ["", "src", "src/deep"].map(|name| project.path().join(name));
        assert_eq!(watched, names.map(|name| PathBuf::from(name.to_str().unwrap().trim_end_matches('/'))));
    }

    #[test]
    fn links_and_too_many_files_are_refused() {
        let linked = project(&[("tool.py", "pass")]);
        std::os::unix::fs::symlink("/etc/hostname", linked.path().join("host.txt")).unwrap();
        let error = read(linked.path()).unwrap_err().to_string();
        assert!(error.contains("host.txt: links and special files are not accepted"), "{error}");
        let large = project(&[]);
        let file = fs::File::create(large.path().join("large.bin")).unwrap();
        file.set_len(PROJECT_BYTES_MAX + 1).unwrap();
        assert!(read(large.path()).unwrap_err().to_string().contains(".gitignore"));
    }
}
