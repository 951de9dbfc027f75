//! Admission of work to this process: the bounds of concurrent and of waiting work, such as runs, builds and git operations.
//!
//! The process and each organisation have bounds of their own. An organisation beyond its bound is refused although the process
//! has capacity; that keeps capacity for the others. A released permit goes to the organisations in turn, whichever of them
//! waited first, so that a long queue of one organisation delays only its own work.

mod bounds;
mod queue;

use std::sync::Arc;

use metrics::{counter, gauge, histogram};
use parking_lot::Mutex;
use tokio::sync::oneshot;
use tokio::time::Instant;

use crate::kit::account::OrganizationId;
use crate::kit::metrics::{REFUSED, RUNNING, WAIT_SECONDS, WAITING, to_number};
pub use bounds::{AdmissionBounds, QueueFull};
use queue::Queue;

/// Admits work of one kind. Clones share the queue.
#[derive(Debug, Clone)]
pub struct Admission(Arc<WorkQueue>);

#[derive(Debug)]
struct WorkQueue {
    /// Kind of work, as a metric label: `runs`, `builds`, `git`.
    work: &'static str,
    bounds: AdmissionBounds,
    queue: Mutex<Queue<oneshot::Sender<WorkPermit>>>,
}

/// Admitted pieces of work, which may wait for permits. Their places in the queue are released on drop.
#[derive(Debug)]
pub struct Admitted {
    admission: Admission,
    organization: OrganizationId,
    pieces: usize,
}

/// Permission for one piece of work to run, released on drop.
#[derive(Debug)]
pub struct WorkPermit {
    admission: Admission,
    organization: OrganizationId,
}

impl Admission {
    #[must_use]
    pub fn new(work: &'static str, bounds: AdmissionBounds) -> Self {
        for bound in ["organization", "process"] {
            counter!(REFUSED, "work" => work, "bound" => bound).increment(0);
        }
        Self(Arc::new(WorkQueue { work, bounds, queue: Mutex::default() }))
    }

    /// Admits all pieces of work, or refuses all of them.
    ///
    /// # Errors
    /// The bound that is reached.
    pub fn admit(&self, organization: &OrganizationId, pieces: usize) -> Result<Admitted, QueueFull> {
        let entered = self.change(|queue| queue.enter(&self.0.bounds, organization, pieces));
        entered.inspect_err(|full| {
            let bound = match full {
                QueueFull::Organization => "organization",
                QueueFull::Process => "process",
            };
            counter!(REFUSED, "work" => self.0.work, "bound" => bound).increment(1);
        })?;
        Ok(Admitted { admission: self.clone(), organization: organization.clone(), pieces })
    }

    /// Changes the queue, then issues the permits that are free to the waiters whose turn it is.
    fn issue_after(&self, change: impl FnOnce(&mut Queue<oneshot::Sender<WorkPermit>>)) {
        let next = |queue: &mut Queue<_>| queue.next(&self.0.bounds, oneshot::Sender::is_closed);
        let mut issued = self.change(|queue| {
            change(queue);
            next(queue)
        });
        // Without the lock: dropping a permit whose waiter is gone calls this method again.
        while let Some((organization, waiter)) = issued {
            drop(waiter.send(WorkPermit { admission: self.clone(), organization }));
            issued = self.change(next);
        }
    }

    /// Changes the queue and updates its metrics under the lock.
    fn change<T>(&self, change: impl FnOnce(&mut Queue<oneshot::Sender<WorkPermit>>) -> T) -> T {
        let mut queue = self.0.queue.lock();
        let changed = change(&mut queue);
        gauge!(RUNNING, "work" => self.0.work).set(to_number(queue.running()));
        gauge!(WAITING, "work" => self.0.work).set(to_number(queue.waiting()));
        changed
    }
}

impl Admitted {
    /// Organisation of the work.
    #[must_use]
    pub const fn organization(&self) -> &OrganizationId {
        &self.organization
    }

    /// Waits for a permit; `None` only when the process ends.
    pub async fn permit(&self) -> Option<WorkPermit> {
        let began = Instant::now();
        let permit = match self.take_free_permit() {
            Some(permit) => Some(permit),
            None => self.wait_for_permit().await,
        };
        histogram!(WAIT_SECONDS, "work" => self.admission.0.work).record(began.elapsed());
        permit
    }

    fn take_free_permit(&self) -> Option<WorkPermit> {
        let Self { admission, organization, .. } = self;
        let is_taken = admission.change(|queue| queue.take(&admission.0.bounds, organization));
        is_taken.then(|| WorkPermit { admission: admission.clone(), organization: organization.clone() })
    }

    async fn wait_for_permit(&self) -> Option<WorkPermit> {
        let (waiter, permit) = oneshot::channel();
        self.admission.issue_after(|queue| queue.wait(&self.organization, waiter));
        permit.await.ok()
    }
}

impl Drop for Admitted {
    fn drop(&mut self) {
        self.admission.change(|queue| queue.leave(&self.organization, self.pieces, oneshot::Sender::is_closed));
    }
}

impl Drop for WorkPermit {
    fn drop(&mut self) {
        self.admission.issue_after(|queue| queue.free(&self.organization));
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;

    fn organization(name: &str) -> OrganizationId {
        OrganizationId::parse(name).unwrap()
    }

    fn admission(parallel_max: usize, queued_max: usize) -> Admission {
        let (organization_parallel_max, organization_queued_max) = (parallel_max, queued_max);
        Admission::new(
            "runs",
            AdmissionBounds { parallel_max, queued_max, organization_parallel_max, organization_queued_max },
        )
    }

    #[tokio::test]
    async fn work_beyond_the_queue_is_refused() {
        let (admission, acme) = (admission(2, 1), organization("acme"));
        let first = admission.admit(&acme, 3).unwrap();
        let permit = first.permit().await.unwrap();
        assert_eq!(admission.admit(&acme, 1).unwrap_err(), QueueFull::Process);
        drop((permit, first));
        assert!(admission.admit(&acme, 3).is_ok());
        assert!(admission.0.queue.lock().is_empty());
    }

    #[tokio::test]
    async fn waiters_get_released_permits() {
        let (admission, acme) = (admission(1, 9), organization("acme"));
        let admitted = admission.admit(&acme, 3).unwrap();
        let first = admitted.permit().await.unwrap();
        let (mut second, mut third) = (Box::pin(admitted.permit()), Box::pin(admitted.permit()));
        assert!(second.as_mut().now_or_never().is_none() && third.as_mut().now_or_never().is_none());
        drop(first);
        let second = second.now_or_never().flatten().unwrap();
        assert!(third.as_mut().now_or_never().is_none());
        drop(second);
        assert!(third.now_or_never().flatten().is_some());
    }

    #[tokio::test]
    async fn cancelled_waiters_take_no_permit() {
        let (admission, acme) = (admission(1, 9), organization("acme"));
        let admitted = admission.admit(&acme, 3).unwrap();
        let first = admitted.permit().await.unwrap();
        let mut gone = Box::pin(admitted.permit());
        assert!(gone.as_mut().now_or_never().is_none());
        let mut stays = Box::pin(admitted.permit());
        assert!(stays.as_mut().now_or_never().is_none());
        drop(gone);
        drop(first);
        drop(stays.now_or_never().flatten().unwrap());
        // A waiter that is dropped after it was sent a permit returns the permit.
        let first = admitted.permit().await.unwrap();
        let mut gone = Box::pin(admitted.permit());
        assert!(gone.as_mut().now_or_never().is_none());
        drop(first);
        drop(gone);
        assert!(admitted.permit().now_or_never().flatten().is_some());
        drop(admitted);
        assert!(admission.0.queue.lock().is_empty());
    }
}
