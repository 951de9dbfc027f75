//! One organisation's repository: branches, ancestry, and pins, which keep published commits.

use std::fs::File;
use std::path::Path;
use std::time::Duration;

use git2::ErrorCode;
use registry::{BranchName, OrganizationId};

use super::state::{CommitHold, TrackedRepository};
use crate::commits::{CommitId, is_descendant, read_links, read_subject};
use crate::error::Error;
use crate::ref_names::OWN_REFS;

/// Time to wait for the lock of a ref. Writing a ref takes milliseconds, and more on a loaded disk.
const LOCKED_TIME_MAX: Duration = Duration::from_secs(2);
const LOCKED_PAUSE: Duration = Duration::from_millis(5);

/// A bare repository on disk. Clones are cheap; every operation opens the repository, which takes less than a
/// millisecond.
#[derive(Debug, Clone)]
pub struct Repository {
    organization: OrganizationId,
    tracked: TrackedRepository,
}

/// A commit that garbage collection keeps while this value exists, whatever happens to its branch.
#[derive(Debug)]
pub struct HeldCommit(CommitHold);

impl HeldCommit {
    pub fn commit(&self) -> CommitId {
        CommitId::from(self.0.commit())
    }
}

impl Repository {
    pub(crate) fn new(organization: OrganizationId, tracked: TrackedRepository) -> Self {
        Self { organization, tracked }
    }

    /// The organisation that owns the repository.
    pub fn organization(&self) -> &OrganizationId {
        &self.organization
    }

    /// The directory of the repository.
    pub fn path(&self) -> &Path {
        &self.tracked.path
    }

    /// The directory and the state in this process.
    pub(crate) fn tracked(&self) -> &TrackedRepository {
        &self.tracked
    }

    /// The commit at the tip of a branch, if the branch exists.
    pub fn find_branch_tip(&self, branch: &BranchName) -> Result<Option<CommitId>, Error> {
        self.commit_of(&format!("refs/heads/{branch}"))
    }

    /// The commit at the tip of a branch, which can be read.
    fn find_readable_tip(&self, branch: &BranchName) -> Result<Option<CommitId>, Error> {
        let Some(tip) = self.find_branch_tip(branch)? else { return Ok(None) };
        // The branch names the commit, so that it was there.
        let read = self.open()?.odb().and_then(|objects| read_links(&objects, tip.oid()));
        read.map_err(Error::git("read the tip of a branch"))?;
        Ok(Some(tip))
    }

    /// The commit at the tip of a branch.
    ///
    /// # Errors
    /// [`Error::UnknownBranch`] if the branch does not exist.
    pub fn require_branch_tip(&self, branch: &BranchName) -> Result<CommitId, Error> {
        self.find_readable_tip(branch)?.ok_or_else(|| Error::UnknownBranch { branch: branch.to_string() })
    }

    /// The commit at the tip of a branch, which stays readable during a build even if the branch moves.
    ///
    /// # Errors
    /// [`Error::UnknownBranch`] if the branch does not exist.
    pub fn hold_branch_tip(&self, branch: &BranchName) -> Result<HeldCommit, Error> {
        let held = self.tracked.state.hold(|| Ok::<_, Error>(self.find_readable_tip(branch)?.map(|tip| tip.oid())))?;
        held.map(HeldCommit).ok_or_else(|| Error::UnknownBranch { branch: branch.to_string() })
    }

    /// A commit, which stays readable during a build.
    ///
    /// # Errors
    /// [`Error::UnknownCommit`] if the repository does not have it.
    pub fn hold_commit(&self, commit: CommitId) -> Result<HeldCommit, Error> {
        let held = self.tracked.state.hold(|| self.require_commit(&commit).map(|()| Some(commit.oid())))?;
        held.map(HeldCommit).ok_or(Error::UnknownCommit { commit })
    }

    /// The first line of a commit's message, if there is one. Characters that are not UTF-8 are replaced.
    pub fn subject(&self, commit: &CommitId) -> Option<String> {
        let git = self.open().ok()?;
        read_subject(&git.odb().ok()?, commit.oid())
    }

    /// Keeps a commit of a repository of one server durably under `refs/lathe/<name>`, whatever happens to its branch. Pinning the same commit again has no
    /// effect.
    ///
    /// # Errors
    /// [`Error::PinTaken`] if the name keeps another commit.
    pub fn pin(&self, commit: &CommitId, name: &str) -> Result<(), Error> {
        let pin = Pin { name, reference: pin_reference(name)?, commit: *commit };
        let git = self.open()?;
        require(&git, commit)?;
        if let Err(error) = pin.write(&git, std::thread::sleep) {
            self.accept_existing_pin(error, &pin)?;
            if !self.path().join(&pin.reference).exists() {
                return Ok(()); // the ref is packed, so that it was written long ago
            }
        }
        // Another publication may have written the same ref a moment ago, and not yet synced it.
        self.sync(&pin.reference)
    }

    /// Checks that the repository holds a commit.
    pub(crate) fn require_commit(&self, commit: &CommitId) -> Result<(), Error> {
        require(&self.open()?, commit)
    }

    /// Checks that the commits at the tips of all branches can be read. git leaves out a branch whose commit is missing, so that a
    /// clone of a damaged repository would look empty.
    ///
    /// # Errors
    /// [`Error::Damaged`] when a commit is missing or damaged.
    pub(crate) fn require_tips(&self) -> Result<(), Error> {
        let git = self.open()?;
        let read = || -> Result<(), git2::Error> {
            let objects = git.odb()?;
            for reference in git.references_glob("refs/heads/*")? {
                if let Some(tip) = reference?.target() {
                    objects.read_header(tip)?;
                }
            }
            Ok(())
        };
        read().map_err(Error::git("read the branches"))
    }

    /// Whether `older` is `newer` itself or one of its ancestors.
    pub fn contains(&self, newer: &CommitId, older: &CommitId) -> Result<bool, Error> {
        if newer == older {
            return Ok(true);
        }
        let git = self.open()?;
        for commit in [newer, older] {
            require(&git, commit)?;
        }
        is_descendant(&git, newer.oid(), older.oid()).map_err(Error::git("compare two commits"))
    }

    /// Whether `candidate` is a proper ancestor of `published`. Publications of such commits are refused.
    pub fn is_older(&self, candidate: &CommitId, published: &CommitId) -> Result<bool, Error> {
        Ok(candidate != published && self.contains(published, candidate)?)
    }

    pub(crate) fn open(&self) -> Result<git2::Repository, Error> {
        git2::Repository::open_bare(self.path()).map_err(Error::git("open the repository"))
    }

    fn commit_of(&self, reference: &str) -> Result<Option<CommitId>, Error> {
        let git = self.open()?;
        let found = git.find_reference(reference);
        match found {
            Ok(reference) => Ok(reference.target().map(CommitId::from)),
            Err(error) if matches!(error.code(), ErrorCode::NotFound | ErrorCode::InvalidSpec) => Ok(None),
            Err(error) => Err(Error::git("look up a ref")(error)),
        }
    }

    fn accept_existing_pin(&self, error: git2::Error, pin: &Pin<'_>) -> Result<(), Error> {
        match self.commit_of(&pin.reference)? {
            Some(kept) if kept == pin.commit => Ok(()),
            Some(kept) => Err(Error::PinTaken { name: pin.name.to_owned(), kept }),
            None => Err(Error::git("write a pin")(error)),
        }
    }

    /// Syncs the ref's file and the directories up to the repository's, so that the ref survives a loss of power.
    fn sync(&self, reference: &str) -> Result<(), Error> {
        let path = self.path().join(reference);
        for part in path.ancestors().take_while(|part| part.starts_with(self.path())) {
            File::open(part).and_then(|file| file.sync_all()).map_err(Error::io("make a pin durable"))?;
        }
        Ok(())
    }
}

/// Checks that a repository has a commit. One that is pinned was there, so that its repository is damaged.
pub(crate) fn require(git: &git2::Repository, commit: &CommitId) -> Result<(), Error> {
    let Err(error) = git.odb().and_then(|objects| read_links(&objects, commit.oid())) else { return Ok(()) };
    // A commit that is pinned was there.
    let is_unknown = matches!(error.code(), ErrorCode::NotFound | ErrorCode::InvalidSpec);
    if is_unknown && git.find_reference(&format!("{OWN_REFS}{commit}")).is_err() {
        return Err(Error::UnknownCommit { commit: *commit });
    }
    Err(Error::git("read a commit")(error))
}

/// A ref that keeps a commit.
struct Pin<'a> {
    name: &'a str,
    reference: String,
    commit: CommitId,
}

impl Pin<'_> {
    /// Writes the ref. Retries while another publication of the same commit holds its lock.
    fn write(&self, git: &git2::Repository, mut pause: impl FnMut(Duration)) -> Result<(), git2::Error> {
        let mut waited = Duration::ZERO;
        loop {
            match git.reference(&self.reference, self.commit.oid(), false, "pin") {
                Err(error) if error.code() == ErrorCode::Locked && waited < LOCKED_TIME_MAX => {
                    pause(LOCKED_PAUSE);
                    waited += LOCKED_PAUSE;
                }
                written => return written.map(drop),
            }
        }
    }
}

pub(crate) fn pin_reference(name: &str) -> Result<String, Error> {
    let reference = format!("{OWN_REFS}{name}");
    if git2::Reference::is_valid_name(&reference) {
        Ok(reference)
    } else {
        Err(Error::InvalidPin { name: name.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two tools may be published from one commit at the same time: one publication holds the lock of the ref for a moment.
    #[test]
    fn a_pin_waits_for_the_lock_of_its_ref() {
        let directory = tempfile::tempdir().unwrap();
        let git = git2::Repository::init_bare(directory.path()).unwrap();
        let tree = git.find_tree(git.treebuilder(None).unwrap().write().unwrap()).unwrap();
        let author = git2::Signature::now("Eve", "eve@example.org").unwrap();
        let commit = git.commit(None, &author, &author, "empty", &tree, &[]).unwrap();
        let lock = directory.path().join("refs/lathe/builds/1.lock");
        std::fs::create_dir_all(lock.parent().unwrap()).unwrap();
        std::fs::write(&lock, "").unwrap();
        let pin = Pin { name: "builds/1", reference: pin_reference("builds/1").unwrap(), commit: commit.into() };
        let mut pauses = 0;
        let release = |_| {
            pauses += 1;
            if pauses == 3 {
                std::fs::remove_file(&lock).unwrap();
            }
        };
        pin.write(&git, release).unwrap();
        assert_eq!((pauses, git.find_reference(&pin.reference).unwrap().target()), (3, Some(commit)));
    }
}
