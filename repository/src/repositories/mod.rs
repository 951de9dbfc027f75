//! The repositories of all organisations below one directory. A repository is made at its first use.

mod share;

use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parking_lot::Mutex;
use registry::{Clock, OrganizationId, SharedRepositories};
use sha2::{Digest, Sha256};

use crate::bare::{
    Repository, RepositoryState, TrackedRepository, hook_path, sync_below, write_hook, write_repository,
};
use crate::blocking::blocking;
use crate::commits::CommitId;
use crate::config::Config;
use crate::error::Error;
use crate::git::{GitCommands, GitProgram, UNFINISHED_PREFIX, remove_unfinished};
use crate::shared::{FirstCommit, Sharing, SharingDirectories};
pub use share::VerifiedRepository;

/// Hexadecimal characters of the hash in a directory's name: 128 bits, so that nobody finds a collision.
const HASH_CHARACTERS: usize = 32;

/// The parts with which several servers share repositories.
pub struct RepositorySharing {
    pub records: SharedRepositories,
    pub git: GitProgram,
    /// The directory of the copies, made if absent. [`Config::root`] has repositories from before they were shared.
    pub copies: PathBuf,
}

/// The repositories of all organisations. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Repositories {
    root: PathBuf,
    clock: Clock,
    /// The states of the repositories that were used since the start, by directory.
    states: Arc<Mutex<HashMap<PathBuf, Arc<RepositoryState>>>>,
    /// `None` for the repositories of one server.
    sharing: Option<Sharing>,
}

impl Repositories {
    /// Whether several servers have the same repositories.
    #[must_use]
    pub const fn are_shared(&self) -> bool {
        self.sharing.is_some()
    }

    /// Opens the directory, removes what an earlier server did not finish, and rewrites the hook to run this program. No
    /// other server may use the directory.
    pub fn new(config: &Config, clock: Clock) -> Result<Self, Error> {
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(&config.root)
            .map_err(Error::io("create the directory of the repositories"))?;
        let root = config.root.canonicalize().map_err(Error::io("find the directory of the repositories"))?;
        remove_unfinished(&root);
        write_hook(&root, &config.hook_program)?;
        Ok(Self { root, clock, states: Arc::default(), sharing: None })
    }

    /// Opens the repositories of one server, or the copies of those that several servers share. Shares repositories of this data
    /// directory whose organisations have no shared one yet.
    pub async fn open(config: Config, clock: Clock, sharing: Option<RepositorySharing>) -> Result<Self, Error> {
        let Some(sharing) = sharing else { return Self::new(&config, clock) };
        let repositories = Self::shared(config, clock, sharing)?;
        let Some(sharing) = &repositories.sharing else { return Ok(repositories) };
        for organization in sharing.records().organizations().await? {
            if sharing.adopt(&repositories.repository(&organization)).await? {
                tracing::info!(%organization, "the repository of the data directory is shared now");
            }
        }
        Ok(repositories)
    }

    /// Opens the copies of repositories that several servers share. Shares no repository.
    pub fn shared(config: Config, clock: Clock, sharing: RepositorySharing) -> Result<Self, Error> {
        let RepositorySharing { records, git, copies } = sharing;
        let of_copies = Self::new(&Config { root: copies, ..config.clone() }, clock)?;
        let root = of_copies.root.clone();
        // git is started in another directory. A directory that does not exist has no repositories.
        let own = config.root.canonicalize().unwrap_or(config.root);
        let directories = SharingDirectories { root: root.clone(), own };
        Ok(Self { sharing: Some(Sharing::new(records, GitCommands::new(git, &root), directories)), ..of_copies })
    }

    /// The organisation's repository with the refs of this moment, if it exists.
    pub async fn find_current(&self, organization: &OrganizationId) -> Result<Option<Repository>, Error> {
        let Some(sharing) = &self.sharing else { return Ok(self.find(organization)) };
        let repository = self.repository(organization);
        Ok(sharing.refresh(&repository).await?.then_some(repository))
    }

    /// The organisation's repository. Makes one if it is missing, with one commit of `files` on `main`.
    pub async fn create(
        &self,
        organization: &OrganizationId,
        files: Vec<(String, Vec<u8>)>,
    ) -> Result<Repository, Error> {
        if let Some(sharing) = &self.sharing {
            let repository = self.repository(organization);
            sharing.create(&repository, FirstCommit { files, time: self.clock.now() }).await?;
            return Ok(repository);
        }
        let (of, organization) = (self.clone(), organization.clone());
        blocking(move || of.ensure(&organization, &files)).await
    }

    /// Keeps a commit durably under `refs/lathe/<commit>`, whatever happens to its branch. Pinning a commit again has no effect.
    pub async fn pin(&self, repository: &Repository, commit: CommitId) -> Result<(), Error> {
        let name = commit.to_string();
        if let Some(sharing) = &self.sharing {
            return sharing.pin(repository, &commit, &name).await;
        }
        let of = repository.clone();
        blocking(move || of.pin(&commit, &name)).await
    }

    /// The organisation's repository. Makes one if it is missing, with one commit of `files` on `main`.
    ///
    /// `files` are paths, with `/` as the separator, and contents. Concurrent calls return the same repository.
    pub fn ensure(&self, organization: &OrganizationId, files: &[(String, Vec<u8>)]) -> Result<Repository, Error> {
        if let Some(existing) = self.find(organization) {
            return Ok(existing);
        }
        let scratch = tempfile::Builder::new()
            .prefix(UNFINISHED_PREFIX)
            .tempdir_in(&self.root)
            .map_err(Error::io("create a temporary directory"))?;
        let made = scratch.path().join("repository");
        write_repository(&made, files, self.clock.now())?;
        sync_below(&made).map_err(Error::io("make the repository durable"))?;
        self.put_in_place(&made, organization)
    }

    /// The organisation's repository, if it exists.
    pub fn find(&self, organization: &OrganizationId) -> Option<Repository> {
        let path = self.path_of(organization);
        path.is_dir().then(|| self.repository(organization))
    }

    /// The parts for shared repositories; `None` for the repositories of one server.
    pub(crate) fn sharing(&self) -> Option<&Sharing> {
        self.sharing.as_ref()
    }

    /// The organisation's repository, whether it exists or not.
    pub(crate) fn repository(&self, organization: &OrganizationId) -> Repository {
        Repository::new(organization.clone(), self.track(self.path_of(organization)))
    }

    /// The directories of all repositories.
    pub(crate) fn list_paths(&self) -> io::Result<Vec<PathBuf>> {
        let entries = fs::read_dir(&self.root)?;
        let paths = entries.map(|entry| entry.map(|entry| entry.path()));
        paths.filter(|path| !path.as_ref().is_ok_and(|path| path.extension() != Some(OsStr::new("git")))).collect()
    }

    /// A repository's directory, with the state that all its users in this process share.
    pub(crate) fn track(&self, path: PathBuf) -> TrackedRepository {
        let mut states = self.states.lock();
        let state = Arc::clone(states.entry(path.clone()).or_default());
        TrackedRepository { path: path.into(), state }
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    pub(crate) fn hook(&self) -> PathBuf {
        hook_path(&self.root)
    }

    fn put_in_place(&self, made: &Path, organization: &OrganizationId) -> Result<Repository, Error> {
        if let Err(error) = fs::rename(made, self.path_of(organization)) {
            return self.find(organization).ok_or(Error::Io { action: "put the repository in place", source: error });
        }
        fs::File::open(&self.root)
            .and_then(|root| root.sync_all())
            .map_err(Error::io("make the repository durable"))?;
        self.find(organization).ok_or(Error::UnknownRepository)
    }

    fn path_of(&self, organization: &OrganizationId) -> PathBuf {
        self.root.join(repository_directory(organization))
    }
}

/// The name of the directory of an organisation's repository.
#[must_use]
pub fn repository_directory(organization: &OrganizationId) -> String {
    format!("{}.git", build_directory_name(organization.as_str()))
}

/// A safe directory name, unique for each organisation even where file names ignore case.
///
/// Ids in lower case are used as they are. Ids with capitals or a leading punctuation mark get a prefix of `=`, which no id
/// contains, and a hash.
fn build_directory_name(organization: &str) -> String {
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
    fn directory_names_are_safe_and_unique() {
        assert_eq!(build_directory_name("acme"), "acme");
        assert_eq!(build_directory_name("a.b@c_d-1"), "a.b@c_d-1");
        let ids = ["acme", "Acme", "ACME", ".", "..", ".git", "-x", "hooks", "@"];
        let names: std::collections::BTreeSet<_> =
            ids.iter().map(|id| build_directory_name(id).to_lowercase()).collect();
        assert_eq!(names.len(), ids.len());
        assert!(names.iter().all(|name| name.starts_with(|first: char| first.is_ascii_alphanumeric() || first == '=')));
        assert!(build_directory_name(&"A".repeat(128)).len() < 200);
    }
}
