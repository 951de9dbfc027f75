//! One organisation's repository: branches, ancestry, and the refs that keep published commits alive.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::Duration;

use git2::ErrorCode;
use registry::{BranchName, OrganizationId, Timestamp};

use super::{CommitId, SourceError};

/// Refs that only the service reads and writes; hidden from every client.
pub(super) const OWN_REFS: &str = "refs/lathe/";

/// Writing a ref takes milliseconds, and a loaded machine's disk some more.
const LOCKED_TIME_MAX: Duration = Duration::from_secs(2);
const LOCKED_PAUSE: Duration = Duration::from_millis(5);

/// A bare repository on disk. Cheap to clone; every operation opens it anew, which takes well under a millisecond.
#[derive(Debug, Clone)]
pub struct Repository {
    organization: OrganizationId,
    path: PathBuf,
}

impl Repository {
    pub(super) fn new(organization: OrganizationId, path: PathBuf) -> Self {
        Self { organization, path }
    }

    /// Whose it is.
    pub fn organization(&self) -> &OrganizationId {
        &self.organization
    }

    /// The bare repository's directory.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The commit at the end of a branch, if there is such a branch.
    pub fn branch_tip(&self, branch: &BranchName) -> Result<Option<CommitId>, SourceError> {
        self.target(&format!("refs/heads/{branch}"))
    }

    /// The commit at the end of a branch that has to exist; otherwise [`SourceError::UnknownBranch`].
    pub fn require_branch_tip(&self, branch: &BranchName) -> Result<CommitId, SourceError> {
        self.branch_tip(branch)?.ok_or_else(|| SourceError::UnknownBranch { branch: branch.to_string() })
    }

    /// Keeps a commit alive under `refs/lathe/<name>`, durably, whatever happens to its branch.
    ///
    /// Pinning the same commit again does nothing; another commit under the same name is [`SourceError::PinTaken`].
    pub fn pin(&self, commit: &CommitId, name: &str) -> Result<(), SourceError> {
        let reference = pin_reference(name)?;
        let git = self.open()?;
        if git.find_commit(commit.oid()).is_err() {
            return Err(SourceError::UnknownCommit { commit: *commit });
        }
        if let Err(error) = write_pin(&git, &reference, commit) {
            self.accept_existing_pin(error, commit, name, &reference)?;
            if !self.path.join(&reference).exists() {
                return Ok(()); // packed, which was long ago
            }
        }
        // Also one that another has just written, who may be about to.
        self.sync(&reference)
    }

    /// Lets a commit go that was pinned under `name`; absence is fine.
    pub fn unpin(&self, name: &str) -> Result<(), SourceError> {
        let git = self.open()?;
        let found = git.find_reference(&pin_reference(name)?);
        match found {
            Ok(mut reference) => reference.delete().map_err(SourceError::git("delete a pin")),
            Err(error) if error.code() == ErrorCode::NotFound => Ok(()),
            Err(error) => Err(SourceError::git("look up a pin")(error)),
        }
    }

    /// The commit pinned under `name`.
    pub fn pinned(&self, name: &str) -> Result<Option<CommitId>, SourceError> {
        self.target(&pin_reference(name)?)
    }

    /// Whether `older` is `newer` itself or one of its ancestors.
    pub fn contains(&self, newer: &CommitId, older: &CommitId) -> Result<bool, SourceError> {
        if newer == older {
            return Ok(true);
        }
        let git = self.open()?;
        for commit in [newer, older] {
            git.find_commit(commit.oid()).map_err(|_| SourceError::UnknownCommit { commit: *commit })?;
        }
        git.graph_descendant_of(newer.oid(), older.oid()).map_err(SourceError::git("compare two commits"))
    }

    /// Whether `candidate` is a real ancestor of `published`, which a publish refuses.
    pub fn is_older(&self, candidate: &CommitId, published: &CommitId) -> Result<bool, SourceError> {
        Ok(candidate != published && self.contains(published, candidate)?)
    }

    /// When the commit says it was made; authors can write any time here.
    pub fn commit_time(&self, commit: &CommitId) -> Result<Timestamp, SourceError> {
        let git = self.open()?;
        let found = git.find_commit(commit.oid()).map_err(|_| SourceError::UnknownCommit { commit: *commit })?;
        Ok(Timestamp::from_milliseconds(found.time().seconds().saturating_mul(1_000)))
    }

    pub(super) fn open(&self) -> Result<git2::Repository, SourceError> {
        git2::Repository::open_bare(&self.path).map_err(SourceError::git("open the repository"))
    }

    fn target(&self, reference: &str) -> Result<Option<CommitId>, SourceError> {
        let git = self.open()?;
        let found = git.find_reference(reference);
        match found {
            Ok(reference) => Ok(reference.target().map(CommitId::from)),
            Err(error) if matches!(error.code(), ErrorCode::NotFound | ErrorCode::InvalidSpec) => Ok(None),
            Err(error) => Err(SourceError::git("look up a ref")(error)),
        }
    }

    fn accept_existing_pin(
        &self,
        error: git2::Error,
        commit: &CommitId,
        name: &str,
        reference: &str,
    ) -> Result<(), SourceError> {
        match self.target(reference)? {
            Some(kept) if kept == *commit => Ok(()),
            Some(kept) => Err(SourceError::PinTaken { name: name.to_owned(), kept }),
            None => Err(SourceError::git("write a pin")(error)),
        }
    }

    /// Makes the ref survive a loss of power: its file, and the directories up to the repository's.
    fn sync(&self, reference: &str) -> Result<(), SourceError> {
        let path = self.path.join(reference);
        for part in path.ancestors().take_while(|part| part.starts_with(&self.path)) {
            File::open(part).and_then(|file| file.sync_all()).map_err(SourceError::io("make a pin durable"))?;
        }
        Ok(())
    }
}

/// Once more as long as another publication of the same commit is at it.
fn write_pin(git: &git2::Repository, reference: &str, commit: &CommitId) -> Result<(), git2::Error> {
    let mut waited = Duration::ZERO;
    loop {
        match git.reference(reference, commit.oid(), false, "pin") {
            Err(error) if error.code() == ErrorCode::Locked && waited < LOCKED_TIME_MAX => {
                std::thread::sleep(LOCKED_PAUSE);
                waited += LOCKED_PAUSE;
            }
            written => return written.map(drop),
        }
    }
}

fn pin_reference(name: &str) -> Result<String, SourceError> {
    let reference = format!("{OWN_REFS}{name}");
    if git2::Reference::is_valid_name(&reference) {
        Ok(reference)
    } else {
        Err(SourceError::InvalidPin { name: name.to_owned() })
    }
}
