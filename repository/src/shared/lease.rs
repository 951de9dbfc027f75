//! The lease of a shared repository, renewed until it is dropped.

use std::time::Duration;

use registry::{RepositoryLease, SharedRepositories};
use tokio::runtime::Handle;
use tokio::sync::OwnedMutexGuard;
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};

use crate::bare::Repository;
use crate::error::Error;

/// Time that a change waits for changes of this and other servers. It is longer than [`SharedRepositories::LEASE_TIME`], so that
/// it outlasts the lease of a server that was killed.
const WAIT_MAX: Duration = Duration::from_secs(30);
/// Time between two attempts to take a lease. Each is a transaction.
const WAIT_POLL: Duration = Duration::from_millis(200);
/// Renewals in the time of a lease, so that it survives two that fail.
const RENEWALS: u32 = 3;

/// A lease that is held, and renewed. Dropping it ends it.
#[derive(Debug)]
pub(super) struct HeldLease {
    records: SharedRepositories,
    lease: RepositoryLease,
    renewing: JoinHandle<()>,
    /// Excludes other changes by this server.
    turn: Option<OwnedMutexGuard<()>>,
}

impl HeldLease {
    /// Waits for the lease.
    ///
    /// # Errors
    /// [`Error::Changing`] when other changes take too long.
    pub(super) async fn wait(records: &SharedRepositories, repository: &Repository) -> Result<Self, Error> {
        let waiting = async {
            let turn = repository.tracked().state.copy.changes.clone().lock_owned().await;
            loop {
                if let Some(lease) = records.acquire(repository.organization()).await? {
                    return Ok(Self::keep_renewed(records, lease, turn));
                }
                sleep(WAIT_POLL).await;
            }
        };
        timeout(WAIT_MAX, waiting).await.map_err(|_| Error::Changing)?
    }

    /// Takes the lease unless a change is under way.
    pub(super) async fn take(records: &SharedRepositories, repository: &Repository) -> Result<Option<Self>, Error> {
        let Ok(turn) = repository.tracked().state.copy.changes.clone().try_lock_owned() else { return Ok(None) };
        let lease = records.acquire(repository.organization()).await?;
        Ok(lease.map(|lease| Self::keep_renewed(records, lease, turn)))
    }

    pub(super) fn lease(&self) -> &RepositoryLease {
        &self.lease
    }

    fn keep_renewed(records: &SharedRepositories, lease: RepositoryLease, turn: OwnedMutexGuard<()>) -> Self {
        let renewing = tokio::spawn(renew(records.clone(), lease.clone()));
        Self { records: records.clone(), lease, renewing, turn: Some(turn) }
    }
}

impl Drop for HeldLease {
    fn drop(&mut self) {
        self.renewing.abort();
        let (records, lease, turn) = (self.records.clone(), self.lease.clone(), self.turn.take());
        // Without a runtime, the server ends, and the lease expires.
        if let Ok(runtime) = Handle::try_current() {
            runtime.spawn(async move {
                if let Err(error) = records.release(&lease).await {
                    tracing::debug!(organization = %lease.organization, %error, "the lease of a repository expires by itself");
                }
                drop(turn);
            });
        }
    }
}

async fn renew(records: SharedRepositories, lease: RepositoryLease) {
    loop {
        sleep(SharedRepositories::LEASE_TIME / RENEWALS).await;
        match records.renew(&lease).await {
            Ok(()) => {}
            Err(error @ registry::Error::LeaseLost) => {
                tracing::warn!(organization = %lease.organization, %error, "another server has the lease of a repository");
                return;
            }
            Err(error) => {
                tracing::warn!(organization = %lease.organization, %error, "the lease of a repository is not renewed")
            }
        }
    }
}
