//! The files of a directory as a push would bring them: without what git ignores, and without links.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use ignore::{DirEntry, WalkBuilder};

use crate::error::{Error, Place};
use crate::source::PROJECT_BYTES_MAX;

const STAGE: &str = "checkout";
/// A project with more has something in it that belongs into `.gitignore`.
const FILES_MAX: usize = 10_000;

/// The directories that hold a project's files, for whoever wants to know when one changes.
///
/// # Errors
/// When one cannot be read.
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

/// Reads all files, by their path within the project. Names with a leading dot are left out: they are never shipped.
///
/// # Errors
/// When there are too many or too large ones, or one is a link or cannot be read.
pub fn read(root: &Path) -> Result<BTreeMap<String, Vec<u8>>, Error> {
    let (mut files, mut bytes) = (BTreeMap::new(), 0);
    for entry in walk(root) {
        let entry = entry.map_err(|error| unreadable(&error))?;
        let Some(kind) = entry.file_type().filter(|kind| !kind.is_dir()) else { continue };
        let path = within(root, entry.path())?;
        if !kind.is_file() {
            return Err(refuse("link", "only plain files are accepted; commit the file itself", &path));
        }
        bytes += entry.metadata().map_or(0, |metadata| metadata.len());
        if bytes > PROJECT_BYTES_MAX || files.len() == FILES_MAX {
            let message = format!(
                "the project has more than {FILES_MAX} files or {PROJECT_BYTES_MAX} bytes; what does not belong to it \
                 should stand in .gitignore"
            );
            return Err(refuse("size", &message, &path));
        }
        if let Some(contents) = contents(&entry)? {
            files.insert(path, contents);
        }
    }
    Ok(files)
}

fn walk(root: &Path) -> impl Iterator<Item = Result<DirEntry, ignore::Error>> {
    // In a directory that is no repository yet, `.gitignore` means the same.
    WalkBuilder::new(root).require_git(false).ignore(false).build()
}

/// None for a file that was there a moment ago: editors write a new one and move it over the old.
fn contents(entry: &DirEntry) -> Result<Option<Vec<u8>>, Error> {
    match fs::read(entry.path()) {
        Ok(contents) => Ok(Some(contents)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(unreadable(&format!("{}: {error}", entry.path().display()))),
    }
}

fn within(root: &Path, path: &Path) -> Result<String, Error> {
    let path = path.strip_prefix(root).unwrap_or(path);
    let name = path.to_str().ok_or_else(|| refuse("utf-8", "the name is not UTF-8", &path.to_string_lossy()))?;
    Ok(name.to_owned())
}

fn refuse(check: &str, message: &str, path: &str) -> Error {
    Error::failed(STAGE, check, message, Place::file(path))
}

fn unreadable(error: &impl std::fmt::Display) -> Error {
    Error::failed(STAGE, "read", format!("the project cannot be read: {error}"), Place::default())
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
    fn a_project_is_read_without_what_git_ignores() {
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
        assert!(error.contains("host.txt: only plain files"), "{error}");
        let large = project(&[]);
        let file = fs::File::create(large.path().join("large.bin")).unwrap();
        file.set_len(PROJECT_BYTES_MAX + 1).unwrap();
        assert!(read(large.path()).unwrap_err().to_string().contains(".gitignore"));
    }
}
