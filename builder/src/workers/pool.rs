//! Which workers wait for a job, and who waits for a worker.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{Notify, oneshot};
use tokio::time::{Instant, timeout_at};

use super::RETRY_AFTER;
use super::wire::{Bytes, Made};
use crate::error::Error;
use crate::metrics;
use crate::progress::Progress;

/// How long a job waits.
#[derive(Debug)]
pub struct Patience {
    /// For a first worker: one that is being started again is there by then; who waits longer waits for an operator.
    pub none_there: Duration,
    /// As long as a build may wait for its turn.
    pub all_busy: Duration,
    /// For a worker's first word, which comes before its first step. One that is stopped or hangs would cost all of the time
    /// that the build has.
    pub begun: Duration,
}

const PATIENCE: Patience =
    Patience { none_there: Duration::from_secs(5), all_busy: Duration::from_secs(60), begun: Duration::from_secs(30) };

/// A job on its way to a worker.
#[derive(Debug)]
pub struct Assignment {
    pub job: Arc<[u8]>,
    pub progress: Progress,
    pub answer: oneshot::Sender<Answer>,
}

/// What became of it.
#[derive(Debug)]
pub enum Answer {
    Made(Made, Bytes),
    Failed(Error),
    /// The worker left before it began.
    Declined,
    /// The worker is gone, or said what none says.
    Lost {
        reason: String,
    },
}

#[derive(Debug)]
pub struct Pool {
    pub patience: Patience,
    state: Mutex<State>,
    changed: Notify,
}

impl Default for Pool {
    fn default() -> Self {
        Self::new(PATIENCE)
    }
}

#[derive(Debug, Default)]
struct State {
    idle: VecDeque<oneshot::Sender<Assignment>>,
    connected: usize,
    busy: usize,
}

/// A worker that is there; it counts for as long as this lives.
#[derive(Debug)]
pub struct Connected(Arc<Pool>);

/// A worker that has a job.
#[derive(Debug)]
pub struct Busy<'p>(&'p Pool);

impl Pool {
    pub fn new(patience: Patience) -> Self {
        Self { patience, state: Mutex::default(), changed: Notify::new() }
    }

    /// Gives a job to the worker that has waited longest, and waits for what becomes of it. Whoever drops the future takes
    /// the job back.
    ///
    /// # Errors
    /// When there is no worker, or none has time.
    pub async fn give(&self, job: Arc<[u8]>, progress: &Progress) -> Result<Answer, Error> {
        let (answer, answered) = oneshot::channel();
        self.assign(Assignment { job, progress: progress.clone(), answer }).await?;
        // One that ended while the job was on its way has not begun it.
        Ok(answered.await.unwrap_or(Answer::Declined))
    }

    async fn assign(&self, mut assignment: Assignment) -> Result<(), Error> {
        let began = Instant::now();
        let mut none_since = None;
        loop {
            // Before anything is looked at, so that no change is missed.
            let changed = self.changed.notified();
            while let Some(worker) = self.next() {
                match worker.send(assignment) {
                    Ok(()) => return Ok(()),
                    Err(back) => assignment = back,
                }
            }
            let is_none_there = self.counts().0 == 0;
            none_since = is_none_there.then(|| none_since.unwrap_or_else(Instant::now));
            let (until, error) = match none_since {
                Some(since) => (since + self.patience.none_there, Error::NoWorker { retry_after: RETRY_AFTER }),
                None => (began + self.patience.all_busy, Error::Overloaded { retry_after: RETRY_AFTER }),
            };
            timeout_at(until, changed).await.map_err(|_| error)?;
        }
    }

    fn next(&self) -> Option<oneshot::Sender<Assignment>> {
        self.lock().idle.pop_front()
    }

    /// Where the next job of a worker arrives that is idle now.
    pub fn offer(&self) -> oneshot::Receiver<Assignment> {
        let (sender, receiver) = oneshot::channel();
        self.change(|state| {
            // Those that left meanwhile.
            state.idle.retain(|idle| !idle.is_closed());
            state.idle.push_back(sender);
        });
        receiver
    }

    pub fn connect(self: &Arc<Self>) -> Connected {
        self.change(|state| state.connected += 1);
        Connected(self.clone())
    }

    pub fn busy(&self) -> Busy<'_> {
        self.change(|state| state.busy += 1);
        Busy(self)
    }

    /// How many workers there are, and how many of them have a job.
    pub fn counts(&self) -> (usize, usize) {
        let state = self.lock();
        (state.connected, state.busy)
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        let mut state = self.lock();
        change(&mut state);
        metrics::workers(state.connected);
        drop(state);
        self.changed.notify_waiters();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Connected {
    fn drop(&mut self) {
        self.0.change(|state| state.connected -= 1);
    }
}

impl Drop for Busy<'_> {
    fn drop(&mut self) {
        self.0.change(|state| state.busy -= 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job() -> Arc<[u8]> {
        [1][..].into()
    }

    #[tokio::test]
    async fn without_a_worker_a_job_is_refused_after_a_moment() {
        let moment = Duration::from_millis(10);
        let pool = Arc::new(Pool::new(Patience { none_there: moment, all_busy: moment, begun: moment }));
        let refused = pool.give(job(), &Progress::none()).await.unwrap_err();
        assert_eq!(refused.code(), "no_build_worker");
        let connected = pool.connect();
        let refused = pool.give(job(), &Progress::none()).await.unwrap_err();
        assert_eq!(refused.code(), "overloaded");
        drop(connected);
        assert_eq!(pool.counts(), (0, 0));
    }

    #[tokio::test]
    async fn a_job_waits_for_a_worker_and_passes_those_that_left() {
        let pool = Arc::<Pool>::default();
        let giving = tokio::spawn({
            let pool = pool.clone();
            async move { pool.give(job(), &Progress::none()).await }
        });
        tokio::task::yield_now().await;
        let _connected = pool.connect();
        drop(pool.offer());
        let assignment = pool.offer().await.unwrap();
        assignment.answer.send(Answer::Lost { reason: String::new() }).unwrap();
        assert!(matches!(giving.await.unwrap(), Ok(Answer::Lost { .. })));
    }

    #[tokio::test]
    async fn a_worker_that_ends_with_a_job_in_its_hands_has_declined_it() {
        let pool = Arc::<Pool>::default();
        let _connected = pool.connect();
        let offered = pool.offer();
        let progress = Progress::none();
        let (given, ()) = tokio::join!(pool.give(job(), &progress), async {
            drop(offered.await.unwrap());
        });
        assert!(matches!(given, Ok(Answer::Declined)));
    }
}
