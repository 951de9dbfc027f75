//! The resources of a request, taken before git starts: a permit for a git operation, and for a push a lock that excludes
//! collections.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use git2::{Oid, Repository};
use registry::OrganizationId;
use runner::{Admission, Admitted, QueueFull};
use tokio::sync::{OwnedRwLockReadGuard, oneshot};
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use crate::source::commit_links::is_descendant;
use crate::source::error::SourceError;
use crate::source::leftovers::remove_quarantines;
use crate::source::repository_state::TrackedRepository;

/// Time that a request waits for a permit. git clients do not retry, and give up later than this.
const PERMIT_WAIT_MAX: Duration = Duration::from_secs(30);

/// The resources of a request, held until no process of its git is left.
pub(super) struct HeldResources {
    pub permit: Arc<OperationPermit>,
    /// `None` unless the request may push objects to a repository of one server.
    pub push: Option<Push>,
    /// Receives whether git ended by itself and without an error.
    pub ended: Option<oneshot::Sender<bool>>,
}

/// A permit for one git operation of the process and of the organisation.
pub(super) struct OperationPermit {
    // Dropped before the admission, which must outlast it.
    _permit: runner::WorkPermit,
    _admitted: Admitted,
}

/// A running push, which excludes collections.
pub(super) struct Push {
    repository: TrackedRepository,
    branches: BTreeMap<String, Oid>,
    under_way: OwnedRwLockReadGuard<()>,
}

impl OperationPermit {
    /// Waits for a permit; organisations take turns.
    ///
    /// # Errors
    /// [`SourceError::Busy`] when too many requests wait, or no permit becomes free in time.
    pub(super) async fn wait(operations: &Admission, organization: &OrganizationId) -> Result<Self, SourceError> {
        let admitted = operations.admit(organization, 1).map_err(|of| SourceError::Busy { of })?;
        let permit = timeout(PERMIT_WAIT_MAX, admitted.permit()).await.ok().flatten();
        // Operations of any organisation may be the reason.
        let permit = permit.ok_or(SourceError::Busy { of: QueueFull::Process })?;
        Ok(Self { _permit: permit, _admitted: admitted })
    }
}

impl Push {
    /// Waits for a running collection, and remembers the tips of the branches.
    pub(super) async fn begin(repository: TrackedRepository) -> Result<Self, SourceError> {
        let pushes = Arc::clone(&repository.state.pushes);
        let under_way = timeout(PERMIT_WAIT_MAX, pushes.read_owned()).await;
        let under_way = under_way.map_err(|_| SourceError::Collecting)?;
        let of = repository.clone();
        let read = spawn_blocking(move || branches(&open(&of)?)).await;
        let branches = read.map_err(|error| SourceError::Io { action: "read the branches", source: error.into() })?;
        Ok(Self { repository, branches: branches.map_err(SourceError::git("read the branches"))?, under_way })
    }

    /// Records whether the push rewrote branches, and removes its leftovers if no other push is running.
    pub(super) async fn end(self) {
        // The runtime has already reported a panic.
        spawn_blocking(move || self.end_now()).await.unwrap_or_default();
    }

    fn end_now(self) {
        // An unreadable repository may have garbage.
        if self.has_rewritten().unwrap_or(true) {
            self.repository.state.branches_were_rewritten();
        }
        drop(self.under_way);
        if let Ok(_no_other) = self.repository.state.pushes.try_write() {
            remove_quarantines(&self.repository.path);
        }
    }

    /// Whether a branch was deleted, or no longer contains its former tip.
    fn has_rewritten(&self) -> Result<bool, git2::Error> {
        let git = open(&self.repository)?;
        let now = branches(&git)?;
        for (name, old) in &self.branches {
            let is_kept = match now.get(name) {
                Some(new) => new == old || is_descendant(&git, *new, *old)?,
                None => false,
            };
            if !is_kept {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

fn open(repository: &TrackedRepository) -> Result<Repository, git2::Error> {
    Repository::open_bare(&repository.path)
}

fn branches(git: &Repository) -> Result<BTreeMap<String, Oid>, git2::Error> {
    let mut branches = BTreeMap::new();
    for reference in git.references_glob("refs/heads/*")? {
        let reference = reference?;
        if let (Ok(name), Some(target)) = (reference.name(), reference.target()) {
            branches.insert(name.to_owned(), target);
        }
    }
    Ok(branches)
}
