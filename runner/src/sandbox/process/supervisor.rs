//! Supervises one runner: starts it, sends it runs, watches it, and replaces it.
//!
//! Each supervisor is a task of the runtime that also executes the callers of its runs, so that no other thread is woken on the
//! way to the runner and back. It handles one message at a time, so that a runner that sends many does not block the others.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use futures_util::FutureExt;
use registry::Digest;
use tokio::process::Child;
use tokio::sync::{mpsc, watch};
use tokio::time::{Instant, MissedTickBehavior};

use super::in_flight_run::{Job, ProtocolViolation};
use super::mailbox::MESSAGE_BYTES_MAX;
use super::messages::{FromRunner, RunNumber};
use super::runner_process::{RunnerProcess, Sending, StartError};
use super::runner_session::RunnerSession;
use super::spawner::ProcessSpawner;
use crate::sandbox::code::CodeStore;
use crate::sandbox::frames::{FrameError, FramedSocket};
use crate::{Error, metrics};

/// Lifetime below which a death counts as quick.
const LIFE_MIN: Duration = Duration::from_secs(2);
/// First pause before a replacement; each further one is twice as long.
const PAUSE_MIN: Duration = Duration::from_millis(100);
/// Longest pause, for a program that never starts.
const PAUSE_MAX: Duration = Duration::from_secs(5);
/// Quick deaths before the first pause: what killed one runner may be waiting for the next.
const QUICK_DEATHS_MAX: u32 = 3;
/// Time to wait for the exit of a killed process. It exits immediately, unless it is in a system call that cannot be
/// interrupted.
const EXIT_TIME_MAX: Duration = Duration::from_secs(5);
/// Interval of the search for overdue runs. A timer for each run would cost every run, and hardly any is overdue.
const WATCH_PERIOD: Duration = Duration::from_millis(100);
/// Messages handled before runs are declared overdue: more than the last messages of all runs.
const PENDING_MESSAGES_MAX: usize = 4_096;

/// Request to a supervisor.
pub enum Request {
    Run(RunNumber, Box<Job>),
    Cancel(RunNumber),
    /// Loads a component before its first run.
    Load(Digest),
}

/// State of a runner that the pool reads.
#[derive(Default)]
pub struct RunnerStatus {
    /// Runs that the runner has, or is about to get.
    pub runs: AtomicUsize,
    pub is_alive: AtomicBool,
}

/// State shared by all supervisors of a pool.
pub struct SupervisorContext {
    pub spawner: ProcessSpawner,
    pub command: Vec<String>,
    pub parallel_runs_max: u32,
    pub codes: CodeStore,
    pub alive: watch::Sender<usize>,
    /// Set when the layers that the kernel lacks have been logged.
    pub has_warned: AtomicBool,
}

pub struct RunnerSupervisor {
    pub context: Arc<SupervisorContext>,
    pub status: Arc<RunnerStatus>,
    pub requests: mpsc::UnboundedReceiver<Request>,
}

/// How a session with a runner ended.
enum End {
    /// All senders of requests are gone.
    Closed,
    Died(Cause),
}

enum Cause {
    Gone,
    Overdue(usize),
    Violation(ProtocolViolation),
    Panic,
}

impl Cause {
    /// Value of a metric label.
    const fn label(&self) -> &'static str {
        match self {
            Self::Gone => "died",
            Self::Overdue(_) => "overdue",
            Self::Violation(_) => "breach",
            Self::Panic => "fault",
        }
    }
}

impl RunnerSupervisor {
    /// Starts the task, which ends when all senders of requests are gone.
    pub fn start(self) {
        tokio::spawn(self.supervise());
    }

    async fn supervise(mut self) {
        let (mut components, mut quick_deaths, mut gone_since) = (Vec::new(), 0_u32, None);
        while !self.requests.is_closed() || !self.requests.is_empty() {
            let began = Instant::now();
            match self.start_runner().await {
                Err(error) => {
                    tracing::error!(%error, "a runner cannot be started");
                    metrics::count_runner_crash("start");
                    self.refuse();
                    quick_deaths = quick_deaths.saturating_add(1).max(QUICK_DEATHS_MAX);
                }
                Ok(runner) => {
                    announce(&runner, gone_since);
                    if !self.attend(runner, &mut components).await {
                        return;
                    }
                    gone_since = Some(Instant::now());
                    quick_deaths = if began.elapsed() < LIFE_MIN { quick_deaths.saturating_add(1) } else { 0 };
                }
            }
            tokio::time::sleep(compute_pause(quick_deaths)).await;
        }
    }

    async fn start_runner(&self) -> Result<RunnerProcess, StartError> {
        let SupervisorContext { spawner, command, parallel_runs_max, has_warned, .. } = &*self.context;
        let runner = RunnerProcess::start(spawner, command, *parallel_runs_max).await?;
        if let Some(lacks) = runner.confinement.lacks()
            && !has_warned.swap(true, Ordering::Relaxed)
        {
            tracing::warn!(lacks, "runners are confined in part, since this kernel does not offer all layers");
        }
        Ok(runner)
    }

    /// Serves one runner until it ends; returns `false` when no replacement is needed.
    async fn attend(&mut self, runner: RunnerProcess, components: &mut Vec<Digest>) -> bool {
        let RunnerProcess { child, mut socket, mailbox, sending, .. } = runner;
        let mut session = RunnerSession::new(mailbox, self.context.codes.clone());
        for component in components.drain(..) {
            // A component that cannot be sent fails its runs, which report the error.
            drop(session.sent().load(&component));
        }
        self.set_alive(true);
        let exchange = AssertUnwindSafe(self.exchange_messages(&mut socket, sending, &mut session)).catch_unwind();
        // A panic of the server's code costs this runner, and not its supervisor.
        let end = exchange.await.unwrap_or(End::Died(Cause::Panic));
        self.set_alive(false);
        *components = session.sent().components();
        let End::Died(cause) = end else { return false };
        let runs = session.lose();
        metrics::count_runner_crash(cause.label());
        tokio::spawn(reap(child, cause, runs));
        true
    }

    /// Handles requests and messages. It also sends posted messages: a separate task would have to be woken for each of them.
    async fn exchange_messages(
        &mut self,
        socket: &mut FramedSocket,
        mut sending: Sending,
        session: &mut RunnerSession,
    ) -> End {
        let mut watch = tokio::time::interval(WATCH_PERIOD);
        watch.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut is_sending = true;
        loop {
            tokio::select! {
                // The process is gone, which the next read reports.
                _ = &mut sending, if is_sending => is_sending = false,
                request = self.requests.recv() => match request {
                    None => return End::Closed,
                    Some(Request::Run(run, job)) => session.begin(run, *job),
                    Some(Request::Cancel(run)) => session.cancel(run),
                    // A component that cannot be sent fails its runs, which report the error.
                    Some(Request::Load(component)) => drop(session.sent().load(&component)),
                },
                message = socket.receive_message(MESSAGE_BYTES_MAX) => {
                    if let Err(cause) = handle(message, session) {
                        return End::Died(cause);
                    }
                }
                _ = watch.tick(), if !session.is_idle() => {
                    if let Err(cause) = expire(socket, session).await {
                        return End::Died(cause);
                    }
                }
            }
        }
    }

    fn set_alive(&self, is_alive: bool) {
        self.status.is_alive.store(is_alive, Ordering::Relaxed);
        self.context.alive.send_modify(|alive| {
            *alive = if is_alive { *alive + 1 } else { alive.saturating_sub(1) };
            metrics::set_runners(*alive);
        });
    }

    /// Refuses all waiting runs, since no runner may ever start.
    fn refuse(&mut self) {
        while let Ok(request) = self.requests.try_recv() {
            if let Request::Run(_, job) = request {
                drop(job.answer.send(Err(Error::internal("no runner process starts; the log says why"))));
            }
        }
    }
}

fn handle(message: Result<Option<FromRunner>, FrameError>, session: &mut RunnerSession) -> Result<(), Cause> {
    match message {
        Ok(None) => Err(Cause::Gone),
        Ok(Some(message)) => session.handle(message).map_err(Cause::Violation),
        Err(error) => Err(Cause::Violation(error.into())),
    }
}

/// Ends overdue runs, after handling the messages that have arrived: this process may be late itself, after it was stopped or had
/// no processor for a while.
async fn expire(socket: &mut FramedSocket, session: &mut RunnerSession) -> Result<(), Cause> {
    if session.deadline().is_none_or(|deadline| Instant::now() < deadline) {
        return Ok(());
    }
    // The runtime polls the socket meanwhile.
    tokio::task::yield_now().await;
    for _ in 0..PENDING_MESSAGES_MAX {
        let message = tokio::task::unconstrained(socket.receive_message(MESSAGE_BYTES_MAX)).now_or_never();
        let Some(message) = message else { break };
        handle(message, session)?;
    }
    match session.expire(Instant::now()) {
        0 => Ok(()),
        overdue => Err(Cause::Overdue(overdue)),
    }
}

fn announce(runner: &RunnerProcess, gone_since: Option<Instant>) {
    let process = runner.child.id();
    match gone_since {
        None => tracing::debug!(process, "a runner is ready"),
        Some(since) => {
            let milliseconds = u64::try_from(since.elapsed().as_millis()).unwrap_or(u64::MAX);
            tracing::info!(process, milliseconds, "a runner was replaced");
        }
    }
}

/// Returns the pause before a replacement: zero at first, then longer after each quick death.
fn compute_pause(quick_deaths: u32) -> Duration {
    match quick_deaths.checked_sub(QUICK_DEATHS_MAX) {
        None => Duration::ZERO,
        Some(more) => PAUSE_MIN.saturating_mul(2_u32.saturating_pow(more)).min(PAUSE_MAX),
    }
}

/// Kills a process that has not exited, waits for its exit, and logs the cause.
async fn reap(mut child: Child, cause: Cause, runs: usize) {
    let process = child.id();
    let is_killed = !matches!(cause, Cause::Gone) && child.start_kill().is_ok();
    let status = match tokio::time::timeout(EXIT_TIME_MAX, child.wait()).await {
        Ok(Ok(status)) => status.to_string(),
        Ok(Err(error)) => error.to_string(),
        Err(_) => "the process does not exit".to_owned(),
    };
    match cause {
        Cause::Gone => tracing::error!(process, status, runs, "a runner died; its runs are closed as runner_crashed"),
        Cause::Overdue(overdue) => tracing::error!(
            process,
            status,
            overdue,
            runs,
            is_killed,
            "a runner was killed because a run did not end in time; its other runs are closed as runner_crashed"
        ),
        Cause::Violation(violation) => tracing::error!(
            process, status, %violation, runs, is_killed,
            "a runner was killed after a protocol violation; its runs are closed as runner_crashed"
        ),
        Cause::Panic => tracing::error!(
            process,
            status,
            runs,
            is_killed,
            "a runner was killed because its supervisor panicked; its runs are closed as runner_crashed"
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_with_quick_deaths() {
        let pauses: Vec<u128> =
            [0, 1, 2, 3, 4, 5, 8, 9, 100, u32::MAX].map(|deaths| compute_pause(deaths).as_millis()).to_vec();
        assert_eq!(pauses, [0, 0, 0, 100, 200, 400, 3_200, 5_000, 5_000, 5_000]);
    }
}
