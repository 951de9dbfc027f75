//! The state of a repository in memory: its running pushes and builds, and its garbage.
//!
//! Garbage collection deletes every object that no ref reaches, without a grace period. Two rules make that safe:
//!
//! - **Pushes and collections exclude each other** ([`RepositoryState::pushes`]). git checks that a push's commits are
//!   complete and moves the branch in one request, so that no checked object can be deleted in between. A client that
//!   read the list of refs before a collection sends its objects in a second request, after it. If an object that it
//!   left out is gone, git refuses the push, and no branch moves.
//! - **Builds hold the commits that they read** ([`RepositoryState::lock_held`]). The tip of a branch is read and held under
//!   one lock. A collection takes the same lock to make refs for held commits. A commit that was held before has such a
//!   ref; a commit that is held later is the tip of a branch, which no push moves during the collection.
//!
//! Fetches and builds may read during a collection: git and libgit2 search for packs again when one has vanished.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicI64;

use git2::Oid;
use parking_lot::{Mutex, MutexGuard};
use tokio::sync::RwLock;

use super::usage::Usage;

/// The divisor of the quota that gives the growth, in bytes, after which a collection may help. A collection copies all
/// live objects, which must not happen for every small push to an almost full repository.
const GROWTH_PARTS: u64 = 8;
/// Packs of a repository that are not worth a collection. Each push makes one, and each read searches all.
const PACKS_MAX: usize = 50;
/// Packs that pushes may add before the next push waits for a collection. Small pushes are fast, and each makes three
/// files, long before their bytes reach the quota.
const PUSHED_PACKS_MAX: usize = 500;

/// The state of one repository; all [`super::Repository`] values of one directory share it.
#[derive(Debug, Default)]
pub(crate) struct RepositoryState {
    /// Shared by pushes, exclusive for a collection and for removing what stopped pushes left.
    pub pushes: Arc<RwLock<()>>,
    pub copy: CopyState,
    held: Mutex<HashMap<Oid, usize>>,
    garbage: Mutex<Garbage>,
}

/// The state of a copy of a shared repository ([`crate::shared`]).
#[derive(Debug, Default)]
pub(crate) struct CopyState {
    /// The generation of the refs and packs; 0 if this process has not compared them yet.
    pub generation: AtomicI64,
    /// Held while the copy is brought up to date.
    pub updates: tokio::sync::Mutex<()>,
    /// Held while this server changes the repository, or waits for its lease.
    pub changes: Arc<tokio::sync::Mutex<()>>,
}

/// The directory of a repository and its state in this process.
#[derive(Debug, Clone)]
pub(crate) struct TrackedRepository {
    pub path: Arc<Path>,
    pub state: Arc<RepositoryState>,
}

/// Facts about unreachable objects that this process has observed.
#[derive(Debug, Default, Clone, Copy)]
struct Garbage {
    /// The size and packs after the last collection of this process.
    left: Option<Usage>,
    /// Whether a branch was deleted or rewritten since then.
    is_rewritten: bool,
}

/// Protects a commit from collection; see the module's documentation.
#[derive(Debug)]
pub(crate) struct CommitHold {
    state: Arc<RepositoryState>,
    commit: Oid,
}

/// The locked set of commits that builds hold.
pub(crate) type HeldCommits<'state> = MutexGuard<'state, HashMap<Oid, usize>>;

impl RepositoryState {
    pub(crate) fn lock_held(&self) -> HeldCommits<'_> {
        self.held.lock()
    }

    /// Reads a commit and holds it, under one lock.
    pub(crate) fn hold<E>(
        self: &Arc<Self>,
        read: impl FnOnce() -> Result<Option<Oid>, E>,
    ) -> Result<Option<CommitHold>, E> {
        let mut held = self.lock_held();
        let Some(commit) = read()? else { return Ok(None) };
        *held.entry(commit).or_default() += 1;
        Ok(Some(CommitHold { state: Arc::clone(self), commit }))
    }

    /// Whether a collection may free space for a push that would exceed the quota.
    pub(crate) fn may_free_space(&self, usage: Usage, bytes_max: u64) -> bool {
        let Garbage { left, is_rewritten } = *self.lock_garbage();
        let has_grown = |left: Usage| usage.bytes >= left.bytes.saturating_add(bytes_max / GROWTH_PARTS);
        is_rewritten || left.is_none_or(has_grown)
    }

    /// Whether a push has to wait for a collection although the repository is within its quota.
    pub(crate) fn has_too_many_packs(&self, usage: Usage) -> bool {
        let left = self.lock_garbage().left.map_or(0, |left| left.packs);
        usage.packs > left + PUSHED_PACKS_MAX
    }

    /// Whether a repository should be collected although it is within its quota.
    pub(crate) fn is_worth_collecting(&self, usage: Usage) -> bool {
        let Garbage { left, is_rewritten } = *self.lock_garbage();
        // This process does not know the collections of an earlier one. A repository of one pack needs none.
        is_rewritten || usage.packs > PACKS_MAX || (left.is_none() && usage.packs > 1)
    }

    /// Whether a branch was deleted or rewritten since the last collection of this process.
    pub(crate) fn is_rewritten(&self) -> bool {
        self.lock_garbage().is_rewritten
    }

    pub(crate) fn note_rewrite(&self) {
        self.lock_garbage().is_rewritten = true;
    }

    /// Records a collection, even a failed one, since the next would fail, too.
    pub(crate) fn note_collection(&self, left: Usage) {
        *self.lock_garbage() = Garbage { left: Some(left), is_rewritten: false };
    }

    fn lock_garbage(&self) -> MutexGuard<'_, Garbage> {
        self.garbage.lock()
    }
}

impl CommitHold {
    pub(crate) fn commit(&self) -> Oid {
        self.commit
    }
}

impl Drop for CommitHold {
    fn drop(&mut self) {
        let mut held = self.state.lock_held();
        if let Some(count) = held.get_mut(&self.commit) {
            *count -= 1;
            if *count == 0 {
                held.remove(&self.commit);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn usage(bytes: u64, packs: usize) -> Usage {
        Usage { bytes, packs }
    }

    #[test]
    fn a_commit_is_held_until_the_last_hold_is_dropped() {
        let (state, commit) = (Arc::new(RepositoryState::default()), Oid::ZERO_SHA1);
        let hold = || state.hold(|| Ok::<_, ()>(Some(commit))).expect("read").expect("a commit");
        let (first, second) = (hold(), hold());
        drop(first);
        assert!(state.lock_held().contains_key(&commit));
        drop(second);
        assert!(state.lock_held().is_empty());
        assert!(state.hold(|| Ok::<_, ()>(None)).expect("read").is_none());
    }

    #[test]
    fn a_collection_is_tried_only_when_it_can_help() {
        let state = RepositoryState::default();
        assert!(state.may_free_space(usage(1, 1), 800), "nothing is known yet");
        state.note_collection(usage(500, 1));
        assert!(!state.may_free_space(usage(599, 9), 800), "the growth is small");
        assert!(state.may_free_space(usage(600, 9), 800));
        state.note_rewrite();
        assert!(state.may_free_space(usage(500, 1), 800));
        state.note_collection(usage(700, 1));
        assert!(!state.may_free_space(usage(700, 1), 800));
    }

    #[test]
    fn repositories_within_the_quota_are_collected_for_garbage_and_for_many_packs() {
        let state = RepositoryState::default();
        assert!(!state.is_worth_collecting(usage(9, 1)) && state.is_worth_collecting(usage(9, 2)));
        state.note_collection(usage(9, 1));
        assert!(
            !state.is_worth_collecting(usage(90, PACKS_MAX)) && state.is_worth_collecting(usage(90, PACKS_MAX + 1))
        );
        state.note_rewrite();
        assert!(state.is_worth_collecting(usage(9, 1)));
    }

    #[test]
    fn many_small_pushes_wait_for_a_collection_now_and_then() {
        let state = RepositoryState::default();
        assert!(!state.has_too_many_packs(usage(9, PUSHED_PACKS_MAX)));
        assert!(state.has_too_many_packs(usage(9, PUSHED_PACKS_MAX + 1)));
        // A collection that failed and left the packs is not tried again for every push.
        state.note_collection(usage(9, PUSHED_PACKS_MAX + 1));
        assert!(!state.has_too_many_packs(usage(9, PUSHED_PACKS_MAX + 2)));
    }
}
