//! The resources of a request, taken before git starts: a permit for a git operation, and for a push a lock that excludes
//! collections.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use git2::{Oid, Repository};
use registry::{Admission, Admitted, OrganizationId, QueueFull, WorkPermit};
use tokio::sync::{OwnedRwLockReadGuard, oneshot};
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use crate::bare::TrackedRepository;
use crate::blocking::blocking;
use crate::commits::is_descendant;
use crate::error::Error;
use crate::git::remove_quarantines;

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
    _permit: WorkPermit,
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
    /// [`Error::Busy`] when too many requests wait, or no permit becomes free in time.
    pub(super) async fn wait(operations: &Admission, organization: &OrganizationId) -> Result<Self, Error> {
        let admitted = operations.admit(organization, 1).map_err(|of| Error::Busy { of })?;
        let permit = timeout(PERMIT_WAIT_MAX, admitted.permit()).await.ok().flatten();
        // Operations of any organisation may be the reason.
        let permit = permit.ok_or(Error::Busy { of: QueueFull::Process })?;
        Ok(Self { _permit: permit, _admitted: admitted })
    }
}

impl Push {
    /// Waits for a running collection, and remembers the tips of the branches.
    pub(super) async fn begin(repository: TrackedRepository) -> Result<Self, Error> {
        let pushes = Arc::clone(&repository.state.pushes);
        let under_way = timeout(PERMIT_WAIT_MAX, pushes.read_owned()).await;
        let under_way = under_way.map_err(|_| Error::Collecting)?;
        let of = repository.clone();
        let read = move || open(&of).and_then(|git| read_branches(&git)).map_err(Error::git("read the branches"));
        Ok(Self { repository, branches: blocking(read).await?, under_way })
    }

    /// Records whether the push rewrote branches, and removes its leftovers if no other push is running.
    pub(super) async fn end(self) {
        // The runtime has already reported a panic.
        spawn_blocking(move || self.end_now()).await.unwrap_or_default();
    }

    fn end_now(self) {
        // An unreadable repository may have garbage.
        if self.has_rewritten().unwrap_or(true) {
            self.repository.state.note_rewrite();
        }
        drop(self.under_way);
        if let Ok(_no_other) = self.repository.state.pushes.try_write() {
            remove_quarantines(&self.repository.path);
        }
    }

    /// Whether a branch was deleted, or no longer contains its former tip.
    fn has_rewritten(&self) -> Result<bool, git2::Error> {
        let git = open(&self.repository)?;
        let now = read_branches(&git)?;
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

fn read_branches(git: &Repository) -> Result<BTreeMap<String, Oid>, git2::Error> {
    let mut branches = BTreeMap::new();
    for reference in git.references_glob("refs/heads/*")? {
        let reference = reference?;
        if let (Ok(name), Some(target)) = (reference.name(), reference.target()) {
            branches.insert(name.to_owned(), target);
        }
    }
    Ok(branches)
}
