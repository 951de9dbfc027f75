//! How much work this process lets in at once, and how much may wait: for runs here, for builds in the crate above.
//!
//! Everything has two bounds, one of the process and one of each organisation. Beyond its own an organisation is
//! refused although the process has room; that is what keeps the room. A place that becomes free goes to the
//! organisations in turn, whoever came first, so that a long queue of one of them delays its own work only.

mod bounds;
mod queue;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use metrics::{counter, gauge, histogram};
use registry::OrganizationId;
use tokio::sync::oneshot;
use tokio::time::Instant;

use crate::metrics::{REFUSED, RUNNING, WAIT_SECONDS, WAITING, number};
pub use bounds::Bounds;
use queue::Queue;

/// Which bound refused; nothing was let in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Full {
    Organization,
    Process,
}

/// Lets work in. Clones share their places.
#[derive(Debug, Clone)]
pub struct Admission(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    /// What is let in, as a label: `runs`, `builds`.
    work: &'static str,
    bounds: Bounds,
    queue: Mutex<Queue<oneshot::Sender<Place>>>,
}

/// The right of some pieces of work to wait for places; given back when dropped.
#[derive(Debug)]
pub struct Admitted {
    admission: Admission,
    organization: OrganizationId,
    pieces: usize,
}

/// A place, free again when dropped.
#[derive(Debug)]
pub struct Place {
    admission: Admission,
    organization: OrganizationId,
}

impl Admission {
    #[must_use]
    pub fn new(work: &'static str, bounds: Bounds) -> Self {
        Self(Arc::new(Shared { work, bounds, queue: Mutex::default() }))
    }

    /// Lets pieces of work wait for places, or refuses all of them at once.
    ///
    /// # Errors
    /// Which bound is met.
    pub fn admit(&self, organization: &OrganizationId, pieces: usize) -> Result<Admitted, Full> {
        let entered = self.change(|queue| queue.enter(&self.0.bounds, organization, pieces));
        entered.inspect_err(|full| {
            let bound = match full {
                Full::Organization => "organization",
                Full::Process => "process",
            };
            counter!(REFUSED, "work" => self.0.work, "bound" => bound).increment(1);
        })?;
        Ok(Admitted { admission: self.clone(), organization: organization.clone(), pieces })
    }

    /// Changes the queue, and gives what is free then to whoever has the turn.
    fn hand_out(&self, change: impl FnOnce(&mut Queue<oneshot::Sender<Place>>)) {
        let next = |queue: &mut Queue<_>| queue.next(&self.0.bounds, oneshot::Sender::is_closed);
        let mut given = self.change(|queue| {
            change(queue);
            next(queue)
        });
        // The lock must not be held here: a place that nobody takes is dropped, and comes back.
        while let Some((organization, waiter)) = given {
            drop(waiter.send(Place { admission: self.clone(), organization }));
            given = self.change(next);
        }
    }

    /// Changes the queue, and tells its lengths while nobody else can.
    fn change<T>(&self, change: impl FnOnce(&mut Queue<oneshot::Sender<Place>>) -> T) -> T {
        let mut queue = self.queue();
        let changed = change(&mut queue);
        gauge!(RUNNING, "work" => self.0.work).set(number(queue.running()));
        gauge!(WAITING, "work" => self.0.work).set(number(queue.waiting()));
        changed
    }

    fn queue(&self) -> MutexGuard<'_, Queue<oneshot::Sender<Place>>> {
        // A panic while the lock was held cannot have left the queue half written.
        self.0.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Admitted {
    /// Waits for a place; nothing only when the process ends.
    pub async fn place(&self) -> Option<Place> {
        let began = Instant::now();
        let place = match self.at_once() {
            Some(place) => Some(place),
            None => self.in_turn().await,
        };
        histogram!(WAIT_SECONDS, "work" => self.admission.0.work).record(began.elapsed());
        place
    }

    fn at_once(&self) -> Option<Place> {
        let Self { admission, organization, .. } = self;
        let is_taken = admission.change(|queue| queue.take(&admission.0.bounds, organization));
        is_taken.then(|| Place { admission: admission.clone(), organization: organization.clone() })
    }

    async fn in_turn(&self) -> Option<Place> {
        let (waiter, place) = oneshot::channel();
        self.admission.hand_out(|queue| queue.wait(&self.organization, waiter));
        place.await.ok()
    }
}

impl Drop for Admitted {
    fn drop(&mut self) {
        self.admission.change(|queue| queue.leave(&self.organization, self.pieces, oneshot::Sender::is_closed));
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.admission.hand_out(|queue| queue.free(&self.organization));
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
        Admission::new("runs", Bounds { parallel_max, queued_max, organization_parallel_max, organization_queued_max })
    }

    #[tokio::test]
    async fn work_beyond_the_queue_is_refused_and_leaves_no_trace() {
        let (admission, acme) = (admission(2, 1), organization("acme"));
        let first = admission.admit(&acme, 3).unwrap();
        let place = first.place().await.unwrap();
        assert_eq!(admission.admit(&acme, 1).unwrap_err(), Full::Process);
        drop((place, first));
        assert!(admission.admit(&acme, 3).is_ok());
        assert!(admission.queue().is_empty());
    }

    #[tokio::test]
    async fn who_waits_gets_the_place_that_becomes_free() {
        let (admission, acme) = (admission(1, 9), organization("acme"));
        let admitted = admission.admit(&acme, 3).unwrap();
        let first = admitted.place().await.unwrap();
        let (mut second, mut third) = (Box::pin(admitted.place()), Box::pin(admitted.place()));
        assert!(second.as_mut().now_or_never().is_none() && third.as_mut().now_or_never().is_none());
        drop(first);
        let second = second.now_or_never().flatten().unwrap();
        assert!(third.as_mut().now_or_never().is_none());
        drop(second);
        assert!(third.now_or_never().flatten().is_some());
    }

    #[tokio::test]
    async fn who_gave_up_waiting_takes_no_place() {
        let (admission, acme) = (admission(1, 9), organization("acme"));
        let admitted = admission.admit(&acme, 3).unwrap();
        let first = admitted.place().await.unwrap();
        let mut gone = Box::pin(admitted.place());
        assert!(gone.as_mut().now_or_never().is_none());
        let mut stays = Box::pin(admitted.place());
        assert!(stays.as_mut().now_or_never().is_none());
        drop(gone);
        drop(first);
        drop(stays.now_or_never().flatten().unwrap());
        // One that goes after it was given a place gives it back.
        let first = admitted.place().await.unwrap();
        let mut gone = Box::pin(admitted.place());
        assert!(gone.as_mut().now_or_never().is_none());
        drop(first);
        drop(gone);
        assert!(admitted.place().now_or_never().flatten().is_some());
        drop(admitted);
        assert!(admission.queue().is_empty());
    }
}
