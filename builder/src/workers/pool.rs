//! The pool of connected workers, and the queue of jobs that wait for one.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use registry::OrganizationId;
use tokio::sync::{Notify, oneshot};
use tokio::time::{Instant, timeout_at};

use super::protocol::{Bytes, OutputMessage};
use super::violation::ProtocolViolation;
use crate::error::Error;
use crate::metrics;
use crate::progress::BuildProgress;

/// Supervisors restart a worker within seconds.
pub const RETRY_AFTER: Duration = Duration::from_secs(5);

/// The times that a job waits.
#[derive(Debug)]
pub struct PoolTimeouts {
    /// Time to wait for the first worker. A worker that is being restarted connects within this time; otherwise an
    /// operator must act.
    pub no_worker: Duration,
    /// Time that a build waits for a free worker.
    pub all_busy: Duration,
    /// Time to wait for a worker's first message, which it sends before the first step. A stopped or hanging worker would
    /// otherwise use up the build's time.
    pub start: Duration,
}

const TIMEOUTS: PoolTimeouts = PoolTimeouts {
    no_worker: Duration::from_secs(5),
    all_busy: Duration::from_secs(60),
    start: Duration::from_secs(30),
};

/// A job on its way to a worker.
#[derive(Debug)]
pub struct Assignment {
    pub job: Arc<[u8]>,
    pub progress: BuildProgress,
    pub outcome: oneshot::Sender<JobOutcome>,
}

/// The outcome of a job.
#[derive(Debug)]
pub enum JobOutcome {
    /// A result, and the channel for its rejection, for which the server ends the connection.
    Output(OutputMessage, Bytes, oneshot::Sender<ProtocolViolation>),
    Failed(Error),
    /// The worker left before it started the job.
    Declined,
    /// The worker died, or violated the protocol.
    Lost {
        reason: String,
    },
}

/// The connected workers of a server.
#[derive(Debug)]
pub struct Pool {
    pub timeouts: PoolTimeouts,
    state: Mutex<PoolState>,
    changed: Notify,
}

impl Default for Pool {
    fn default() -> Self {
        Self::new(TIMEOUTS)
    }
}

#[derive(Debug, Default)]
struct PoolState {
    idle: VecDeque<oneshot::Sender<Assignment>>,
    connected: usize,
    busy: usize,
    /// Running jobs by organisation.
    jobs: HashMap<Option<OrganizationId>, usize>,
}

impl PoolState {
    /// Whether an organisation may use one more worker. Of two or more workers, one is reserved for other organisations.
    fn has_share(&self, organization: Option<&OrganizationId>) -> bool {
        let own = self.jobs.get(&organization.cloned()).copied().unwrap_or_default();
        own < self.connected.saturating_sub(1).max(1)
    }
}

/// A running job, counted for its organisation until it is dropped.
#[derive(Debug)]
struct JobPermit<'p> {
    pool: &'p Pool,
    organization: Option<OrganizationId>,
}

/// A connected worker, counted until it is dropped.
#[derive(Debug)]
pub struct ConnectedWorker(Arc<Pool>);

/// A worker with a job, counted until it is dropped.
#[derive(Debug)]
pub struct BusyWorker<'p>(&'p Pool);

impl Pool {
    pub fn new(timeouts: PoolTimeouts) -> Self {
        Self { timeouts, state: Mutex::default(), changed: Notify::new() }
    }

    /// Gives a job to the worker that has been idle longest, and waits for its outcome. Dropping the future cancels the job.
    ///
    /// # Errors
    /// When no worker is connected, or none is free in time.
    pub async fn submit(
        &self,
        organization: Option<&OrganizationId>,
        job: Arc<[u8]>,
        progress: &BuildProgress,
    ) -> Result<JobOutcome, Error> {
        let (outcome, ended) = oneshot::channel();
        let assignment = Assignment { job, progress: progress.clone(), outcome };
        let _permit = self.assign(organization, assignment).await?;
        // A worker that ended before it received the job has not started it.
        Ok(ended.await.unwrap_or(JobOutcome::Declined))
    }

    async fn assign(
        &self,
        organization: Option<&OrganizationId>,
        mut assignment: Assignment,
    ) -> Result<JobPermit<'_>, Error> {
        let started = Instant::now();
        let mut empty_since = None;
        loop {
            // Registered before the state is read, so that no change is missed.
            let changed = self.changed.notified();
            while let Some((worker, permit)) = self.next(organization) {
                match worker.send(assignment) {
                    Ok(()) => return Ok(permit),
                    Err(back) => assignment = back,
                }
            }
            let is_empty = self.counts().0 == 0;
            empty_since = is_empty.then(|| empty_since.unwrap_or_else(Instant::now));
            let (until, error) = match empty_since {
                Some(since) => (since + self.timeouts.no_worker, Error::NoWorker { retry_after: RETRY_AFTER }),
                None => (started + self.timeouts.all_busy, Error::Overloaded { retry_after: RETRY_AFTER }),
            };
            timeout_at(until, changed).await.map_err(|_| error)?;
        }
    }

    /// The worker that has been idle longest, if the organisation may use one.
    fn next(&self, organization: Option<&OrganizationId>) -> Option<(oneshot::Sender<Assignment>, JobPermit<'_>)> {
        let mut state = self.state.lock();
        let worker = state.has_share(organization).then(|| state.idle.pop_front()).flatten()?;
        let organization = organization.cloned();
        *state.jobs.entry(organization.clone()).or_default() += 1;
        Some((worker, JobPermit { pool: self, organization }))
    }

    /// Registers an idle worker; its next job arrives at the receiver.
    pub fn wait_for_job(&self) -> oneshot::Receiver<Assignment> {
        let (sender, receiver) = oneshot::channel();
        self.change(|state| {
            // Workers may have disconnected meanwhile.
            state.idle.retain(|idle| !idle.is_closed());
            state.idle.push_back(sender);
        });
        receiver
    }

    pub fn connect(self: &Arc<Self>) -> ConnectedWorker {
        self.change(|state| state.connected += 1);
        ConnectedWorker(self.clone())
    }

    pub fn mark_busy(&self) -> BusyWorker<'_> {
        self.change(|state| state.busy += 1);
        BusyWorker(self)
    }

    /// The numbers of connected and of busy workers.
    pub fn counts(&self) -> (usize, usize) {
        let state = self.state.lock();
        (state.connected, state.busy)
    }

    fn change(&self, change: impl FnOnce(&mut PoolState)) {
        let mut state = self.state.lock();
        change(&mut state);
        metrics::record_workers(state.connected);
        drop(state);
        self.changed.notify_waiters();
    }
}

impl Drop for JobPermit<'_> {
    fn drop(&mut self) {
        self.pool.change(|state| {
            if let Some(jobs) = state.jobs.get_mut(&self.organization) {
                *jobs -= 1;
            }
            state.jobs.retain(|_, jobs| *jobs > 0);
        });
    }
}

impl Drop for ConnectedWorker {
    fn drop(&mut self) {
        self.0.change(|state| state.connected -= 1);
    }
}

impl Drop for BusyWorker<'_> {
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
    async fn a_job_is_refused_when_no_worker_connects_in_time() {
        let moment = Duration::from_millis(10);
        let pool = Arc::new(Pool::new(PoolTimeouts { no_worker: moment, all_busy: moment, start: moment }));
        let refused = pool.submit(None, job(), &BuildProgress::none()).await.unwrap_err();
        assert_eq!(refused.code(), "no_build_worker");
        let connected = pool.connect();
        let refused = pool.submit(None, job(), &BuildProgress::none()).await.unwrap_err();
        assert_eq!(refused.code(), "overloaded");
        drop(connected);
        assert_eq!(pool.counts(), (0, 0));
    }

    #[tokio::test]
    async fn a_job_waits_for_a_worker_and_skips_disconnected_ones() {
        let pool = Arc::<Pool>::default();
        let submitting = tokio::spawn({
            let pool = pool.clone();
            async move { pool.submit(None, job(), &BuildProgress::none()).await }
        });
        tokio::task::yield_now().await;
        let _connected = pool.connect();
        drop(pool.wait_for_job());
        let assignment = pool.wait_for_job().await.unwrap();
        assignment.outcome.send(JobOutcome::Lost { reason: String::new() }).unwrap();
        assert!(matches!(submitting.await.unwrap(), Ok(JobOutcome::Lost { .. })));
    }

    #[tokio::test]
    async fn one_of_two_workers_is_reserved_for_other_organizations() {
        let pool = Arc::<Pool>::default();
        let workers = [(); 2].map(|()| (pool.connect(), pool.wait_for_job()));
        let submit = |organization: &str| {
            let (pool, organization) = (pool.clone(), OrganizationId::parse(organization).unwrap());
            tokio::spawn(async move { pool.submit(Some(&organization), job(), &BuildProgress::none()).await })
        };
        let (first, second) = (submit("crowd"), submit("crowd"));
        let [(_first, one), (_second, other)] = workers;
        let held = one.await.unwrap();
        let third = submit("other");
        let prompt = other.await.unwrap();
        assert!(!second.is_finished() && !third.is_finished());
        // The second job of the first organisation waits for its first job.
        prompt.outcome.send(JobOutcome::Declined).unwrap();
        assert!(matches!(third.await.unwrap(), Ok(JobOutcome::Declined)));
        let again = pool.wait_for_job();
        held.outcome.send(JobOutcome::Declined).unwrap();
        assert!(matches!(first.await.unwrap(), Ok(JobOutcome::Declined)));
        again.await.unwrap().outcome.send(JobOutcome::Declined).unwrap();
        assert!(matches!(second.await.unwrap(), Ok(JobOutcome::Declined)));
        assert!(pool.state.lock().jobs.is_empty());
    }

    #[tokio::test]
    async fn a_worker_that_ends_before_its_job_starts_has_declined_it() {
        let pool = Arc::<Pool>::default();
        let _connected = pool.connect();
        let offered = pool.wait_for_job();
        let progress = BuildProgress::none();
        let (given, ()) = tokio::join!(pool.submit(None, job(), &progress), async {
            drop(offered.await.unwrap());
        });
        assert!(matches!(given, Ok(JobOutcome::Declined)));
    }
}
