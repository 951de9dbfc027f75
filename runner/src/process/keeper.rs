//! Keeps one runner: starts it, feeds it, watches it, replaces it.
//!
//! Each keeper is a task among those whose runs it has, so that a run's way to its runner and back wakes no further thread.
//! A runner that says much keeps others waiting for no longer than one message takes.

use std::panic::AssertUnwindSafe;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use futures_util::FutureExt;
use registry::Digest;
use tokio::process::Child;
use tokio::sync::{mpsc, watch};
use tokio::time::Instant;

use super::conversation::Conversation;
use super::flight::{Breach, Job};
use super::frames::{FrameError, Reader};
use super::messages::{FromRunner, RunNumber};
use super::started::{Sending, StartError, Started};
use super::starter::Starter;
use crate::codes::Codes;
use crate::{Error, metrics};

/// A runner that lives for less than this is not replaced at once.
const LIFE_MIN: Duration = Duration::from_secs(2);
const PAUSE_MIN: Duration = Duration::from_millis(100);
/// A program that never starts is tried again this often.
const PAUSE_MAX: Duration = Duration::from_secs(5);
/// Deaths in close succession before the first pause: what kills one runner may be waiting for the next.
const QUICK_DEATHS_MAX: u32 = 3;
/// A process that was killed is gone at once, unless the kernel has something to finish for it.
const BURIAL_TIME_MAX: Duration = Duration::from_secs(5);

/// Runs that are late are looked for this often. A timer for each of them would cost every run, and hardly one is late.
const WATCH_PERIOD: Duration = Duration::from_millis(100);

/// Messages that wait to be read when a run is late: the last words of all its runs are fewer.
const SAID_MAX: usize = 4_096;

/// What a keeper is asked for.
pub enum Request {
    Run(RunNumber, Box<Job>),
    Cancel(RunNumber),
    /// Has the runner load a component before a run of it comes.
    Load(Digest),
}

/// What others know of a runner.
#[derive(Default)]
pub struct Seat {
    /// Runs that it has or is about to get.
    pub runs: AtomicUsize,
    pub is_alive: AtomicBool,
}

/// What all keepers of a pool share.
pub struct Common {
    pub starter: Starter,
    pub command: Vec<String>,
    pub parallel_runs_max: u32,
    pub codes: Codes,
    pub alive: watch::Sender<usize>,
    /// What the kernel does not offer has been logged.
    pub said: AtomicBool,
}

pub struct Keeper {
    pub common: Arc<Common>,
    pub seat: Arc<Seat>,
    pub requests: mpsc::UnboundedReceiver<Request>,
}

/// How a conversation ended.
enum End {
    /// Nobody will ask for anything any more.
    Closed,
    Died(Cause),
}

enum Cause {
    Gone,
    Overdue(usize),
    Breach(Breach),
    Fault,
}

impl Cause {
    const fn label(&self) -> &'static str {
        match self {
            Self::Gone => "died",
            Self::Overdue(_) => "overdue",
            Self::Breach(_) => "breach",
            Self::Fault => "fault",
        }
    }
}

impl Keeper {
    /// Starts the task; it ends when nobody can ask for anything any more.
    pub fn start(self) {
        tokio::spawn(self.keep());
    }

    async fn keep(mut self) {
        let (mut components, mut quick_deaths, mut gone_since) = (Vec::new(), 0_u32, None);
        while !self.requests.is_closed() || !self.requests.is_empty() {
            let began = Instant::now();
            match self.start_one().await {
                Err(error) => {
                    tracing::error!(%error, "there is no runner");
                    metrics::runner_crashed("start");
                    self.refuse();
                    quick_deaths = quick_deaths.saturating_add(1).max(QUICK_DEATHS_MAX);
                }
                Ok(started) => {
                    announce(&started, gone_since);
                    if !self.live(started, &mut components).await {
                        return;
                    }
                    gone_since = Some(Instant::now());
                    quick_deaths = if began.elapsed() < LIFE_MIN { quick_deaths.saturating_add(1) } else { 0 };
                }
            }
            tokio::time::sleep(pause(quick_deaths)).await;
        }
    }

    async fn start_one(&self) -> Result<Started, StartError> {
        let Common { starter, command, parallel_runs_max, said, .. } = &*self.common;
        let started = Started::new(starter, command, *parallel_runs_max).await?;
        if let Some(lacks) = started.confinement.lacks()
            && !said.swap(true, Ordering::Relaxed)
        {
            tracing::warn!(lacks, "runners are confined by what this kernel offers, and it does not offer all");
        }
        Ok(started)
    }

    /// One runner from its start to its end; `false` when no other is needed.
    async fn live(&mut self, started: Started, components: &mut Vec<Digest>) -> bool {
        let Started { child, mut reader, mailbox, sending, .. } = started;
        let mut conversation = Conversation::new(mailbox, self.common.codes.clone());
        for component in components.drain(..) {
            // What is missing is told to the run that wants it.
            drop(conversation.given().load(&component));
        }
        self.is_alive(true);
        let conversing = AssertUnwindSafe(self.converse(&mut reader, sending, &mut conversation)).catch_unwind();
        // A fault of the server's own costs this runner and not its keeper.
        let end = conversing.await.unwrap_or(End::Died(Cause::Fault));
        self.is_alive(false);
        *components = conversation.given().components();
        let End::Died(cause) = end else { return false };
        let runs = conversation.lose();
        metrics::runner_crashed(cause.label());
        tokio::spawn(bury(child, cause, runs));
        true
    }

    /// What is posted meanwhile is sent from here, too: another task would have to be woken for each message.
    async fn converse(&mut self, reader: &mut Reader, mut sending: Sending, conversation: &mut Conversation) -> End {
        let (mut watch, mut is_sending) = (pin!(tokio::time::sleep(WATCH_PERIOD)), true);
        loop {
            tokio::select! {
                // The process is gone, which the reader tells.
                _ = &mut sending, if is_sending => is_sending = false,
                request = self.requests.recv() => match request {
                    None => return End::Closed,
                    Some(Request::Run(run, job)) => conversation.begin(run, *job),
                    Some(Request::Cancel(run)) => conversation.cancel(run),
                    // What is missing is told to the run that wants it.
                    Some(Request::Load(component)) => drop(conversation.given().load(&component)),
                },
                message = reader.next() => {
                    if let Err(cause) = take(message, conversation) {
                        return End::Died(cause);
                    }
                }
                () = &mut watch, if !conversation.is_idle() => {
                    if let Err(cause) = expire(reader, conversation).await {
                        return End::Died(cause);
                    }
                    watch.as_mut().reset(Instant::now() + WATCH_PERIOD);
                }
            }
        }
    }

    fn is_alive(&self, is_alive: bool) {
        self.seat.is_alive.store(is_alive, Ordering::Relaxed);
        self.common.alive.send_modify(|alive| {
            *alive = if is_alive { *alive + 1 } else { alive.saturating_sub(1) };
            metrics::runners(*alive);
        });
    }

    /// There is no runner, and may never be one: nobody waits for it.
    fn refuse(&mut self) {
        while let Ok(request) = self.requests.try_recv() {
            if let Request::Run(_, job) = request {
                drop(job.answer.send(Err(Error::internal("no runner process starts; the log says why"))));
            }
        }
    }
}

fn take(message: Result<Option<FromRunner>, FrameError>, conversation: &mut Conversation) -> Result<(), Cause> {
    match message {
        Ok(None) => Err(Cause::Gone),
        Ok(Some(message)) => conversation.take(message).map_err(Cause::Breach),
        Err(error) => Err(Cause::Breach(error.into())),
    }
}

/// Ends runs that are late. What has been said already counts: it may be this process that is late, after it was stopped
/// or had no core for a while.
async fn expire(reader: &mut Reader, conversation: &mut Conversation) -> Result<(), Cause> {
    if conversation.deadline().is_none_or(|deadline| Instant::now() < deadline) {
        return Ok(());
    }
    // The runtime looks at the socket meanwhile.
    tokio::task::yield_now().await;
    for _ in 0..SAID_MAX {
        let Some(message) = tokio::task::unconstrained(reader.next()).now_or_never() else { break };
        take(message, conversation)?;
    }
    match conversation.expire(Instant::now()) {
        0 => Ok(()),
        overdue => Err(Cause::Overdue(overdue)),
    }
}

fn announce(started: &Started, gone_since: Option<Instant>) {
    let process = started.child.id();
    match gone_since {
        None => tracing::debug!(process, "a runner is ready"),
        Some(since) => {
            let milliseconds = u64::try_from(since.elapsed().as_millis()).unwrap_or(u64::MAX);
            tracing::info!(process, milliseconds, "a runner was replaced");
        }
    }
}

/// None for a runner that lived, longer and longer for those that do not.
fn pause(quick_deaths: u32) -> Duration {
    match quick_deaths.checked_sub(QUICK_DEATHS_MAX) {
        None => Duration::ZERO,
        Some(more) => PAUSE_MIN.saturating_mul(2_u32.saturating_pow(more)).min(PAUSE_MAX),
    }
}

/// Makes sure that a process is gone, and says how it ended.
async fn bury(mut child: Child, cause: Cause, runs: usize) {
    let process = child.id();
    // One that is gone already needs no signal.
    let is_killed = !matches!(cause, Cause::Gone) && child.start_kill().is_ok();
    let waited = tokio::time::timeout(BURIAL_TIME_MAX, child.wait()).await;
    let status = match waited {
        Ok(Ok(status)) => status.to_string(),
        Ok(Err(error)) => error.to_string(),
        Err(_) => "it does not end".to_owned(),
    };
    match cause {
        Cause::Gone => tracing::error!(process, status, runs, "a runner died; its runs are closed as runner_crashed"),
        Cause::Overdue(overdue) => tracing::error!(
            process,
            status,
            overdue,
            runs,
            is_killed,
            "a runner was killed, since a run did not end in time; its other runs are closed as runner_crashed"
        ),
        Cause::Breach(breach) => tracing::error!(
            process, status, %breach, runs, is_killed,
            "a runner was killed, since it said what no runner says; its runs are closed as runner_crashed"
        ),
        Cause::Fault => tracing::error!(
            process,
            status,
            runs,
            is_killed,
            "a runner was killed, since its keeper failed; its runs are closed as runner_crashed"
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deaths_in_close_succession_are_followed_by_longer_and_longer_pauses() {
        let pauses: Vec<u128> =
            [0, 1, 2, 3, 4, 5, 8, 9, 100, u32::MAX].map(|deaths| pause(deaths).as_millis()).to_vec();
        assert_eq!(pauses, [0, 0, 0, 100, 200, 400, 3_200, 5_000, 5_000, 5_000]);
    }
}
