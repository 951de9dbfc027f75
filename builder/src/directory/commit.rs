//! What a commit of a directory would contain: git converts line ends and applies the filters of `.gitattributes`, and keeps
//! files that it tracks although it ignores them.

use std::collections::BTreeMap;
use std::io::{Seek as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;

use super::refusal::{STAGE, unreadable};
use crate::error::Error;

/// A checkout of a git repository.
pub struct Checkout {
    top: PathBuf,
    /// The path of the project within the checkout, empty or with `/` at its end.
    prefix: String,
    /// Objects that are made on the way, so that the repository keeps none.
    objects: TempDir,
}

impl Checkout {
    /// The checkout around a directory. `None` without git or without a repository, in which files are committed as they are.
    pub fn find(directory: &Path) -> Result<Option<Self>, Error> {
        let ask = |question: &str| {
            let asked =
                Command::new("git").current_dir(directory).args(["rev-parse", question]).stderr(Stdio::null()).output();
            let answer = asked.ok().filter(|output| output.status.success())?;
            let text = String::from_utf8(answer.stdout).ok()?;
            Some(text.strip_suffix('\n').unwrap_or(&text).to_owned())
        };
        let Some((top, prefix)) = ask("--show-toplevel").zip(ask("--show-prefix")) else { return Ok(None) };
        let objects = TempDir::new().map_err(|error| unreadable(&error))?;
        Ok(Some(Self { top: top.into(), prefix, objects }))
    }

    /// The paths within the project of the files that git tracks.
    pub fn list_tracked(&self) -> Result<Vec<String>, Error> {
        let place = if self.prefix.is_empty() { "." } else { &self.prefix };
        let listed = self.run_git(&["ls-files", "-z", "--cached", "--", place], &[])?;
        let names = listed.split(|byte| *byte == 0).filter_map(|name| std::str::from_utf8(name).ok());
        Ok(names
            .filter_map(|name| name.strip_prefix(&self.prefix))
            .filter(|name| !name.is_empty())
            .map(str::to_owned)
            .collect())
    }

    /// Replaces contents by those that a commit would have.
    pub fn convert(&self, files: &mut BTreeMap<String, Vec<u8>>) -> Result<(), Error> {
        // A name with a line end is refused later.
        let paths: Vec<String> = files.keys().filter(|path| !path.contains('\n')).cloned().collect();
        let as_they_are = self.hash(&["--no-filters"], &paths)?;
        let converted = self.hash(&[], &paths)?;
        let differ = paths.iter().zip(as_they_are.iter().zip(&converted)).filter(|(_, (one, other))| one != other);
        let differ: Vec<String> = differ.map(|(path, _)| path.clone()).collect();
        let ids = self.hash(&["-w"], &differ)?;
        for (path, id) in differ.into_iter().zip(ids) {
            files.insert(path, self.run_git(&["cat-file", "blob", &id], &[])?);
        }
        Ok(())
    }

    /// The ids of the objects of files.
    fn hash(&self, options: &[&str], paths: &[String]) -> Result<Vec<String>, Error> {
        if paths.is_empty() {
            return Ok(Vec::new());
        }
        let names: String = paths.iter().map(|path| format!("{}{path}\n", self.prefix)).collect();
        let printed = self.run_git(&[&["hash-object", "--stdin-paths"][..], options].concat(), names.as_bytes())?;
        Ok(String::from_utf8_lossy(&printed).lines().map(str::to_owned).collect())
    }

    fn run_git(&self, arguments: &[&str], input: &[u8]) -> Result<Vec<u8>, Error> {
        let mut command = Command::new("git");
        command.current_dir(&self.top).args(arguments).env("GIT_OBJECT_DIRECTORY", self.objects.path());
        // A file, since git writes while it reads, and both pipes could be full.
        let stdin = write_input(input).map_err(|error| unreadable(&error))?;
        let output = command.stdin(stdin).output().map_err(|error| unreadable(&error))?;
        if output.status.success() {
            return Ok(output.stdout);
        }
        let reason = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        Err(Error::failed(STAGE, "git", format!("git cannot convert the files as for a commit: {reason}")))
    }
}

fn write_input(input: &[u8]) -> std::io::Result<Stdio> {
    let mut file = tempfile::tempfile()?;
    file.write_all(input)?;
    file.rewind()?;
    Ok(file.into())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn repository() -> TempDir {
        let directory = tempfile::tempdir().unwrap();
        run(directory.path(), &["init", "--quiet"]);
        directory
    }

    fn run(directory: &Path, arguments: &[&str]) {
        let ended = Command::new("git").current_dir(directory).args(arguments).status().unwrap();
        assert!(ended.success(), "{arguments:?}");
    }

    #[test]
    fn files_are_read_as_a_commit_has_them() {
        let repository = repository();
        let project = repository.path().join("tools/greet");
        fs::create_dir_all(&project).unwrap();
        let attributes = "*.py text\n*.bin -text\n*.secret filter=upper\n";
        for (name, text) in [
            (".gitattributes", attributes),
            (".gitignore", "kept.txt\nignored.txt\n"),
            ("tools/greet/tool.py", "a\r\nb\r\n"),
            ("tools/greet/data.bin", "a\r\n"),
            ("tools/greet/word.secret", "word"),
            ("tools/greet/kept.txt", "kept"),
            ("tools/greet/ignored.txt", "ignored"),
        ] {
            fs::write(repository.path().join(name), text).unwrap();
        }
        run(repository.path(), &["config", "filter.upper.clean", "tr a-z A-Z"]);
        run(repository.path(), &["add", "--force", "tools/greet/kept.txt"]);
        let files = super::super::read(&project).unwrap();
        let found: Vec<(&str, &[u8])> = files.iter().map(|(path, bytes)| (path.as_str(), bytes.as_slice())).collect();
        let expected: [(&str, &[u8]); 4] =
            [("data.bin", b"a\r\n"), ("kept.txt", b"kept"), ("tool.py", b"a\nb\n"), ("word.secret", b"WORD")];
        assert_eq!(found, expected);
        let loose = fs::read_dir(repository.path().join(".git/objects")).unwrap().count();
        assert_eq!(loose, 3, "besides the added file, git keeps its directories `info` and `pack`");
    }

    #[test]
    fn a_filter_that_fails_is_named() {
        let repository = repository();
        fs::write(repository.path().join(".gitattributes"), "*.py filter=broken\n").unwrap();
        fs::write(repository.path().join("tool.py"), "pass").unwrap();
        run(repository.path(), &["config", "filter.broken.clean", "false"]);
        run(repository.path(), &["config", "filter.broken.required", "true"]);
        let refused = super::super::read(repository.path()).unwrap_err().to_string();
        assert!(
            refused.contains("checkout failed (git): git cannot convert") && refused.contains("broken"),
            "{refused}"
        );
    }

    #[test]
    fn without_a_repository_files_are_read_as_they_are() {
        let directory = tempfile::tempdir().unwrap();
        fs::write(directory.path().join("tool.py"), "a\r\n").unwrap();
        assert!(Checkout::find(directory.path()).unwrap().is_none());
        assert_eq!(super::super::read(directory.path()).unwrap()["tool.py"], b"a\r\n");
    }
}
