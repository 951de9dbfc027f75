//! Garbage collection: writes all objects that a ref reaches to one new pack, and deletes all other objects.
//!
//! The refs are the branches, the refs under `refs/lathe/` that keep published commits, and during a collection one ref
//! for each commit that a build holds. `bare::state` explains why no grace period is needed.
//!
//! The process runs one collection at a time, under git's limits, and at low priority unless a push waits for it. A
//! collection searches for no new deltas, so that it costs one traversal of the history and a copy of the live objects.

use std::path::Path;
use std::process::Output;
use std::sync::Arc;
use std::time::Duration;

use git2::Oid;
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use tokio::process::Child;
use tokio::sync::{Mutex, OwnedMutexGuard, OwnedRwLockWriteGuard};
use tokio::task::JoinError;
use tokio::time::timeout;

use crate::bare::{TrackedRepository, Usage, measure_usage};
use crate::blocking::blocking;
use crate::error::Error;
use crate::git::{GitCommands, Priority, remove_quarantines, remove_stopped_packs};
use crate::ref_names::HELD_REFS;

/// Time of one collection: a copy of the default quota on a slow disk.
const COLLECTION_TIME_MAX: Duration = Duration::from_secs(600);
/// Time that a push waits for other pushes to end, so that a collection can start.
const EXCLUSIVE_WAIT_MAX: Duration = Duration::from_secs(30);
/// Time that a push waits for the collection, which continues after it. Proxies give up not much later.
const COLLECTION_WAIT_MAX: Duration = Duration::from_secs(30);

/// `-a -d` keeps exactly the objects that refs reach. A bitmap would cost time and space, and only helps large clones.
const REPACK: [&str; 8] = ["-c", "repack.writeBitmaps=false", "repack", "-a", "-d", "-n", "-q", "--window=0"];

/// Collects garbage. Clones share the lock that allows one collection at a time.
#[derive(Debug, Clone)]
pub(crate) struct Collector {
    commands: GitCommands,
    bytes_max: u64,
    one_at_a_time: Arc<Mutex<()>>,
}

/// A collection with its locks, which exclude other collections and pushes to the repository.
#[derive(Debug)]
struct Collection {
    repository: TrackedRepository,
    /// Normal if a push waits for the collection.
    priority: Priority,
    _turn: OwnedMutexGuard<()>,
    _exclusive: OwnedRwLockWriteGuard<()>,
}

impl Collector {
    pub(crate) fn new(commands: GitCommands, bytes_max: u64) -> Self {
        Self { commands, bytes_max, one_at_a_time: Arc::default() }
    }

    /// The quota of one repository.
    pub(crate) const fn bytes_max(&self) -> u64 {
        self.bytes_max
    }

    /// Collects before a push of at most `incoming_bytes` if the push could exceed the quota and garbage may be the reason,
    /// or if pushes have left very many packs.
    ///
    /// Failures are logged. The hook, which measures again, decides on the push.
    pub(crate) async fn collect_before_push(&self, repository: &TrackedRepository, incoming_bytes: u64) {
        let needs_collection = |usage: Usage, repository: &TrackedRepository| {
            let is_near = usage.bytes.saturating_add(incoming_bytes) > self.bytes_max;
            let may_help = is_near && repository.state.may_free_space(usage, self.bytes_max);
            may_help || repository.state.has_too_many_packs(usage)
        };
        if !measure(repository).await.is_some_and(|usage| needs_collection(usage, repository)) {
            return;
        }
        // The lock of collections comes first: pushes to this repository continue while another repository is collected.
        let locks = async {
            let turn = Arc::clone(&self.one_at_a_time).lock_owned().await;
            (turn, Arc::clone(&repository.state.pushes).write_owned().await)
        };
        let Ok((turn, exclusive)) = timeout(EXCLUSIVE_WAIT_MAX, locks).await else { return };
        // Another push may have collected meanwhile.
        if measure(repository).await.is_some_and(|usage| needs_collection(usage, repository)) {
            let collection = Collection {
                repository: repository.clone(),
                priority: Priority::Normal,
                _turn: turn,
                _exclusive: exclusive,
            };
            timeout(COLLECTION_WAIT_MAX, self.collect(collection)).await.unwrap_or_default();
        }
    }

    /// Collects every repository that is worth it and has no push under way.
    pub(crate) async fn sweep(&self, repositories: Vec<TrackedRepository>) {
        for repository in repositories {
            let Some(usage) = measure(&repository).await else { continue };
            if !repository.state.is_worth_collecting(usage) {
                continue;
            }
            let turn = Arc::clone(&self.one_at_a_time).lock_owned().await;
            if let Ok(exclusive) = Arc::clone(&repository.state.pushes).try_write_owned() {
                let collection = Collection { repository, priority: Priority::Low, _turn: turn, _exclusive: exclusive };
                self.collect(collection).await;
            }
        }
    }

    /// Runs a collection, which continues if the future is dropped.
    async fn collect(&self, collection: Collection) {
        let collector = self.clone();
        let collecting = tokio::spawn(async move { collector.collect_now(&collection).await });
        report_lost(collecting.await);
    }

    async fn collect_now(&self, collection: &Collection) {
        let repository = &collection.repository;
        let before = measure(repository).await.unwrap_or_default();
        let collected = self.repack(repository, collection.priority).await;
        let left = measure(repository).await.unwrap_or(before);
        repository.state.note_collection(left);
        let path = repository.path.display();
        let (bytes_before, bytes) = (before.bytes, left.bytes);
        match collected {
            Ok(()) => {
                tracing::info!(repository = %path, bytes_before, bytes, packs = before.packs, "garbage was collected")
            }
            Err(error) => tracing::error!(repository = %path, bytes_before, %error, "garbage could not be collected"),
        }
    }

    async fn repack(&self, repository: &TrackedRepository, priority: Priority) -> Result<(), Error> {
        let of = repository.clone();
        blocking(move || prepare(&of)).await?;
        let mut command = self.commands.build_command(&repository.path, priority);
        command.arg("--git-dir").arg(&*repository.path).args(REPACK);
        let child = command.spawn().map_err(Error::io("start git"))?;
        let ended = wait_for_end(child).await;
        let of = repository.clone();
        blocking(move || {
            remove_stopped_packs(&of.path);
            drop_held_refs(&of.path)
        })
        .await?;
        let output = ended?;
        if output.status.success() {
            return Ok(());
        }
        Err(Error::Repack { detail: String::from_utf8_lossy(&output.stderr).trim_end().to_owned() })
    }
}

/// Waits for git. Kills its process group when it takes too long.
async fn wait_for_end(child: Child) -> Result<Output, Error> {
    let group = child.id().and_then(|id| i32::try_from(id).ok()).map(Pid::from_raw);
    if let Ok(output) = timeout(COLLECTION_TIME_MAX, child.wait_with_output()).await {
        return output.map_err(Error::io("wait for git"));
    }
    // An error means that no process is left.
    group.map_or(Ok(()), |group| killpg(group, Signal::SIGKILL)).unwrap_or_default();
    let minutes = COLLECTION_TIME_MAX.as_secs() / 60;
    Err(Error::Repack { detail: format!("it took more than {minutes} minutes") })
}

/// Removes the leftovers of stopped pushes and collections, and makes refs for the commits that builds hold.
fn prepare(repository: &TrackedRepository) -> Result<(), Error> {
    remove_quarantines(&repository.path);
    remove_stopped_packs(&repository.path);
    drop_held_refs(&repository.path)?;
    let git = open(&repository.path)?;
    let held = repository.state.lock_held();
    for commit in held.keys() {
        git.reference(&build_held_reference(*commit), *commit, true, "held")
            .map_err(Error::git("keep the commit of a build"))?;
    }
    Ok(())
}

/// Removes the refs of the last collection, including one that was stopped.
pub(crate) fn drop_held_refs(repository: &Path) -> Result<(), Error> {
    let drop_all = || -> Result<(), git2::Error> {
        let git = git2::Repository::open_bare(repository)?;
        for reference in git.references_glob(&format!("{HELD_REFS}*"))? {
            reference?.delete()?;
        }
        Ok(())
    };
    drop_all().map_err(Error::git("drop a ref of a collection"))
}

fn build_held_reference(commit: Oid) -> String {
    format!("{HELD_REFS}{commit}")
}

fn open(path: &Path) -> Result<git2::Repository, Error> {
    git2::Repository::open_bare(path).map_err(Error::git("open the repository"))
}

/// The size of a repository. `None` when it cannot be measured; the log has the reason.
async fn measure(repository: &TrackedRepository) -> Option<Usage> {
    let path = Arc::clone(&repository.path);
    let measured = blocking(move || measure_usage(&path).map_err(Error::io("measure a repository"))).await;
    measured
        .inspect_err(|error| tracing::error!(repository = %repository.path.display(), %error, "the size of a repository cannot be measured"))
        .ok()
}

fn report_lost(ended: Result<(), JoinError>) {
    if let Err(error) = ended {
        tracing::error!(%error, "a garbage collection ended early");
    }
}
