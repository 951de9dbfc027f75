//! How many runs this process lets in, and how many may wait.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::Error;

/// A place frees up when a run ends; most end well within this.
const RETRY_AFTER: Duration = Duration::from_secs(1);

#[derive(Debug, Clone)]
pub struct Admission {
    places: Arc<Semaphore>,
    inside: Arc<AtomicUsize>,
    inside_max: usize,
}

impl Admission {
    pub fn new(parallel_runs_max: u32, queued_runs_max: usize) -> Self {
        let places = usize::try_from(parallel_runs_max).unwrap_or(usize::MAX);
        Self {
            places: Arc::new(Semaphore::new(places)),
            inside: Arc::default(),
            inside_max: places.saturating_add(queued_runs_max),
        }
    }

    /// Lets `runs` wait for places, or refuses all of them at once.
    ///
    /// # Errors
    /// `Busy` when too many wait already; nothing was recorded then.
    pub fn admit(&self, runs: usize) -> Result<Admitted, Error> {
        let before = self.inside.fetch_add(runs, Ordering::SeqCst);
        let admitted = Admitted { admission: self.clone(), runs };
        if before > 0 && before + runs > self.inside_max {
            return Err(Error::Busy { retry_after: RETRY_AFTER });
        }
        Ok(admitted)
    }
}

/// The right of some runs to wait for places.
#[derive(Debug)]
pub struct Admitted {
    admission: Admission,
    runs: usize,
}

impl Admitted {
    /// Waits for a place, which is held until it is dropped.
    pub async fn place(&self) -> Result<OwnedSemaphorePermit, Error> {
        let places = self.admission.places.clone();
        places.acquire_owned().await.map_err(|_| Error::internal("the runner is shutting down"))
    }
}

impl Drop for Admitted {
    fn drop(&mut self) {
        self.admission.inside.fetch_sub(self.runs, Ordering::SeqCst);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn runs_beyond_the_queue_are_refused_and_leave_no_trace() {
        let admission = Admission::new(2, 1);
        let first = admission.admit(3).unwrap();
        let _place = first.place().await.unwrap();
        assert!(matches!(admission.admit(1), Err(Error::Busy { .. })));
        drop(first);
        assert!(admission.admit(3).is_ok());
    }
}
