//! Tasks that may outlive their requests: bounded, and waited for at the shutdown.

use std::sync::Arc;
use std::time::Duration;

use registry::{Admission, AdmissionBounds, Admitted, OrganizationId, QueueFull};
use tokio::task::JoinHandle;
use tokio_util::task::TaskTracker;
use tokio_util::task::task_tracker::TrackedFuture;
use tracing::Instrument;

use crate::error::Error;

/// Concurrent asynchronous operations, as many as runs may wait. The number is limited here,
/// since asynchronous operations hold no connection.
const ASYNCHRONOUS_MAX: usize = 256;

/// `Retry-After` of a refused operation.
const RETRY_AFTER: Duration = Duration::from_secs(1);

/// The tasks of a server. Clones share them.
#[derive(Clone)]
pub struct Tasks {
    tracker: TaskTracker,
    asynchronous: Arc<Admission>,
}

impl Default for Tasks {
    fn default() -> Self {
        let asynchronous = Admission::new("operations", AdmissionBounds::shared(ASYNCHRONOUS_MAX, 0));
        Self { tracker: TaskTracker::new(), asynchronous: Arc::new(asynchronous) }
    }
}

impl Tasks {
    /// Starts a task that goes on when its request ends early; refused at the end of the server's time for its last requests.
    pub fn spawn<F>(&self, work: F) -> Result<JoinHandle<F::Output>, Error>
    where
        F: Future<Output: Send> + Send + 'static,
    {
        if self.tracker.is_closed() {
            return Err(Error::ShuttingDown);
        }
        Ok(self.tracker.spawn(work.in_current_span()))
    }

    /// Work of a task that goes on by itself when its request ends early; refused as by [`Tasks::spawn`].
    pub fn track<F: Future>(&self, work: F) -> Result<TrackedFuture<F>, Error> {
        if self.tracker.is_closed() {
            return Err(Error::ShuttingDown);
        }
        Ok(self.tracker.track_future(work))
    }

    /// Admits an asynchronous operation.
    pub fn admit_asynchronous(&self, organization: &OrganizationId) -> Result<Admitted, Error> {
        let retry_after = RETRY_AFTER;
        self.asynchronous.admit(organization, 1).map_err(|full| match full {
            QueueFull::Process => Error::Runner(runner::Error::Overloaded { retry_after }),
            QueueFull::Organization => Error::Runner(runner::Error::TooManyRuns { retry_after }),
        })
    }

    /// Refuses new tasks from now on. Running tasks continue.
    pub fn stop_admitting(&self) {
        self.tracker.close();
    }

    /// Completes when tasks are no longer admitted and all have ended.
    pub async fn wait_until_ended(&self) {
        self.tracker.wait().await;
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;
    use tokio::sync::oneshot;

    use super::*;

    #[tokio::test]
    async fn a_task_runs_to_its_end_when_its_request_ends() {
        let tasks = Tasks::default();
        let (go, gone) = oneshot::channel::<()>();
        let (done, ended) = oneshot::channel();
        let work = async move {
            gone.await.unwrap();
            done.send("the end").unwrap();
        };
        drop(tasks.spawn(work).unwrap());
        tasks.stop_admitting();
        assert!(tasks.wait_until_ended().now_or_never().is_none(), "the shutdown waits for the task");
        assert!(matches!(tasks.spawn(async {}), Err(Error::ShuttingDown)));
        go.send(()).unwrap();
        assert_eq!(ended.await.unwrap(), "the end");
        tasks.wait_until_ended().await;
    }
}
