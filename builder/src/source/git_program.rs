//! The machine's `git`: where it is and whether it is recent enough.

use std::env;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::SourceError;

/// The oldest version that is accepted: the one in Debian 12, the oldest that the server was meant for. It has the
/// quarantine of pushed objects, `GIT_CONFIG_COUNT`, and the ownership checks.
pub const GIT_VERSION_MIN: GitVersion = GitVersion { major: 2, minor: 39 };

/// The first two numbers of git's version.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct GitVersion {
    pub major: u32,
    pub minor: u32,
}

/// A `git` that was found and is recent enough.
#[derive(Debug, Clone)]
pub struct GitProgram {
    path: PathBuf,
    search_path: OsString,
    version: GitVersion,
}

impl GitProgram {
    /// Finds `git` through PATH and checks its version; meant for start-up and for a doctor command.
    ///
    /// Fails with [`SourceError::GitMissing`] or [`SourceError::GitTooOld`].
    pub fn find() -> Result<Self, SourceError> {
        Self::find_in(&env::var_os("PATH").unwrap_or_default())
    }

    fn find_in(search_path: &OsStr) -> Result<Self, SourceError> {
        let path = env::split_paths(search_path)
            .map(|directory| directory.join("git"))
            .find(|candidate| candidate.is_absolute() && candidate.is_file())
            .ok_or(SourceError::GitMissing)?;
        let found = version_of(&path, search_path)?;
        if found < GIT_VERSION_MIN {
            return Err(SourceError::GitTooOld { found });
        }
        Ok(Self { path, search_path: search_path.to_owned(), version: found })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Its version.
    pub fn version(&self) -> GitVersion {
        self.version
    }

    /// The PATH it was found in, which its own helper programs need.
    pub(super) fn search_path(&self) -> &OsStr {
        &self.search_path
    }
}

fn version_of(path: &Path, search_path: &OsStr) -> Result<GitVersion, SourceError> {
    let output = Command::new(path)
        .arg("--version")
        .env_clear()
        .env("PATH", search_path)
        .env("LC_ALL", "C")
        .stdin(Stdio::null())
        .output()
        .map_err(SourceError::io("run `git --version`"))?;
    GitVersion::parse(&String::from_utf8_lossy(&output.stdout)).ok_or(SourceError::GitMissing)
}

impl GitVersion {
    /// Reads `git version 2.47.3` and vendors' longer forms of it.
    fn parse(text: &str) -> Option<Self> {
        let number = text.trim().strip_prefix("git version ")?.split_whitespace().next()?;
        let mut parts = number.split('.');
        Some(Self { major: parts.next()?.parse().ok()?, minor: parts.next()?.parse().ok()? })
    }
}

impl fmt::Display for GitVersion {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}.{}", self.major, self.minor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_of_several_vendors_are_read() {
        let check = |text: &str, expect: Option<(u32, u32)>| {
            let found = GitVersion::parse(text).map(|version| (version.major, version.minor));
            assert_eq!(found, expect, "{text}");
        };
        check("git version 2.47.3\n", Some((2, 47)));
        check("git version 2.39.5 (Apple Git-154)\n", Some((2, 39)));
        check("git version 3.0.rc1", Some((3, 0)));
        check("hub version 2.1", None);
        check("git version two", None);
    }

    #[test]
    fn a_machine_without_git_is_told_how_to_install_it() {
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
