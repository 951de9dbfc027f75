//! All organisations' repositories below one directory, made on first use.

use std::ffi::OsStr;
use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use registry::{Clock, OrganizationId};
use sha2::{Digest, Sha256};

use super::repository_files::{HOOKS_DIRECTORY, hook_path, sync_below, write_hook, write_repository};
use super::{Repository, SourceError};

/// Hexadecimal characters of the hash in a directory's name: 128 bits never collide by accident or by search.
const HASH_CHARACTERS: usize = 32;

/// Where repositories lie, and what inspects pushes to them.
#[derive(Debug, Clone)]
pub struct GitConfig {
    /// The directory of the repositories; made when absent.
    pub root: PathBuf,
    /// The program that the hook starts as `<hook_program> internal pre-receive`.
    pub hook_program: PathBuf,
}

/// The repositories of all organisations. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Repositories {
    root: PathBuf,
    clock: Clock,
}

impl Repositories {
    /// Opens the directory and writes the hook anew, so that it names the program of this start.
    pub fn new(config: &GitConfig, clock: Clock) -> Result<Self, SourceError> {
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(&config.root)
            .map_err(SourceError::io("create the directory of the repositories"))?;
        let root = config.root.canonicalize().map_err(SourceError::io("find the directory of the repositories"))?;
        write_hook(&root, &config.hook_program)?;
        Ok(Self { root, clock })
    }

    /// The organisation's repository; when it has none, one is made whose `main` holds a single commit with `files`.
    ///
    /// `files` are paths separated by `/` with their content. Whoever loses a race to make it gets the winner's.
    pub fn ensure(
        &self,
        organization: &OrganizationId,
        files: &[(String, Vec<u8>)],
    ) -> Result<Repository, SourceError> {
        if let Some(existing) = self.find(organization) {
            return Ok(existing);
        }
        let scratch = tempfile::Builder::new()
            .prefix(".new-")
            .tempdir_in(&self.root)
            .map_err(SourceError::io("create a temporary directory"))?;
        let made = scratch.path().join("repository");
        write_repository(&made, files, self.clock.now())?;
        sync_below(&made).map_err(SourceError::io("make the repository durable"))?;
        self.put_in_place(&made, organization)
    }

    /// The organisation's repository, if it was made.
    pub fn find(&self, organization: &OrganizationId) -> Option<Repository> {
        let path = self.path_of(organization);
        path.is_dir().then(|| Repository::new(organization.clone(), path))
    }

    /// The directories of all repositories.
    pub(super) fn paths(&self) -> io::Result<Vec<PathBuf>> {
        let entries = fs::read_dir(&self.root)?;
        let paths = entries.map(|entry| entry.map(|entry| entry.path()));
        paths.filter(|path| !path.as_ref().is_ok_and(|path| path.extension() != Some(OsStr::new("git")))).collect()
    }

    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    pub(super) fn hooks(&self) -> PathBuf {
        self.root.join(HOOKS_DIRECTORY)
    }

    pub(super) fn hook(&self) -> PathBuf {
        hook_path(&self.root)
    }

    fn put_in_place(&self, made: &Path, organization: &OrganizationId) -> Result<Repository, SourceError> {
        if let Err(error) = fs::rename(made, self.path_of(organization)) {
            return self
                .find(organization)
                .ok_or(SourceError::Io { action: "put the repository in place", source: error });
        }
        fs::File::open(&self.root)
            .and_then(|root| root.sync_all())
            .map_err(SourceError::io("make the repository durable"))?;
        self.find(organization).ok_or(SourceError::UnknownRepository)
    }

    fn path_of(&self, organization: &OrganizationId) -> PathBuf {
        self.root.join(format!("{}.git", directory_name(organization.as_str())))
    }
}

/// A name that is safe and different for every organisation, also where file names ignore case.
///
/// Plain ids stand for themselves. Ids with capitals or a leading punctuation mark get a hash in front, after a `=`,
/// which no id contains.
fn directory_name(organization: &str) -> String {
    let starts_plainly = organization.starts_with(|first: char| first.is_ascii_alphanumeric());
    if starts_plainly && !organization.bytes().any(|byte| byte.is_ascii_uppercase()) {
        return organization.to_owned();
    }
    let hash = hex::encode(Sha256::digest(organization.as_bytes()));
    format!("={}-{}", &hash[..HASH_CHARACTERS], organization.to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directory_names_are_safe_and_differ() {
        assert_eq!(directory_name("acme"), "acme");
        assert_eq!(directory_name("a.b@c_d-1"), "a.b@c_d-1");
        let ids = ["acme", "Acme", "ACME", ".", "..", ".git", "-x", "hooks", "@"];
        let names: std::collections::BTreeSet<_> = ids.iter().map(|id| directory_name(id).to_lowercase()).collect();
        assert_eq!(names.len(), ids.len());
        assert!(names.iter().all(|name| name.starts_with(|first: char| first.is_ascii_alphanumeric() || first == '=')));
        assert!(directory_name(&"A".repeat(128)).len() < 200);
    }
}
