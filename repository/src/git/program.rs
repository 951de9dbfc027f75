//! Finds the machine's `git` and checks its version.

use std::env;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::error::Error;
use crate::git_version::{GIT_VERSION_MIN, GitVersion};

/// A supported `git`.
#[derive(Debug, Clone)]
pub struct GitProgram {
    path: PathBuf,
    search_path: OsString,
    version: GitVersion,
}

impl GitProgram {
    /// Finds `git` in PATH and checks its version.
    ///
    /// # Errors
    /// [`Error::GitMissing`] or [`Error::GitTooOld`].
    pub fn find() -> Result<Self, Error> {
        Self::find_in(&env::var_os("PATH").unwrap_or_default())
    }

    fn find_in(search_path: &OsStr) -> Result<Self, Error> {
        let path = env::split_paths(search_path)
            .map(|directory| directory.join("git"))
            .find(|candidate| candidate.is_absolute() && candidate.is_file())
            .ok_or(Error::GitMissing)?;
        let found = read_version(&path, search_path)?;
        if found < GIT_VERSION_MIN {
            return Err(Error::GitTooOld { found });
        }
        Ok(Self { path, search_path: search_path.to_owned(), version: found })
    }

    /// The path of the program.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The version of the program.
    pub fn version(&self) -> GitVersion {
        self.version
    }

    /// The PATH that contains git, which its helper programs need.
    pub(super) fn search_path(&self) -> &OsStr {
        &self.search_path
    }
}

fn read_version(path: &Path, search_path: &OsStr) -> Result<GitVersion, Error> {
    let output = Command::new(path)
        .arg("--version")
        .env_clear()
        .env("PATH", search_path)
        .env("LC_ALL", "C")
        .stdin(Stdio::null())
        .output()
        .map_err(Error::io("run `git --version`"))?;
    GitVersion::parse(&String::from_utf8_lossy(&output.stdout)).ok_or(Error::GitMissing)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_git_is_reported_with_the_command_that_installs_it() {
        let empty = tempfile::tempdir().expect("a temporary directory");
        let error = GitProgram::find_in(empty.path().as_os_str()).expect_err("there is no git");
        assert!(error.to_string().contains("apt-get install git"), "{error}");
    }

    #[test]
    fn the_machines_git_is_recent_enough() {
        let git = GitProgram::find().expect("git");
        assert!(git.version() >= GIT_VERSION_MIN);
    }
}
