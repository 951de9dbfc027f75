//! Cancelling runs: those that are in progress on this server.

use std::sync::Arc;

use dashmap::DashMap;
use registry::{OrganizationId, RunId, UserId};
use tokio::sync::oneshot;

/// The runs that can be cancelled.
#[derive(Clone, Default)]
pub(super) struct CancellableRuns(Arc<DashMap<RunId, Cancellable>>);

struct Cancellable {
    organization: OrganizationId,
    /// Receives the user who cancels the run.
    cancel: oneshot::Sender<UserId>,
}

/// A run that can be cancelled until this is dropped.
pub(super) struct Cancellation {
    runs: CancellableRuns,
    run: RunId,
    requested: oneshot::Receiver<UserId>,
}

impl CancellableRuns {
    pub fn register(&self, run: &RunId, organization: &OrganizationId) -> Cancellation {
        let (cancel, requested) = oneshot::channel();
        self.0.insert(run.clone(), Cancellable { organization: organization.clone(), cancel });
        Cancellation { runs: self.clone(), run: run.clone(), requested }
    }

    /// Cancels a run of an organisation for a user. Returns `false` when no such run is in progress.
    pub fn cancel(&self, organization: &OrganizationId, run: &RunId, by: &UserId) -> bool {
        let found = self.0.remove_if(run, |_, found| found.organization == *organization);
        found.is_some_and(|(_, found)| found.cancel.send(by.clone()).is_ok())
    }
}

impl Cancellation {
    /// Waits until a user cancels the run.
    pub async fn requested(&mut self) -> UserId {
        match (&mut self.requested).await {
            Ok(user) => user,
            // The sender is dropped only with the value that was sent.
            Err(_) => std::future::pending().await,
        }
    }
}

impl Drop for Cancellation {
    fn drop(&mut self) {
        self.runs.0.remove(&self.run);
    }
}
