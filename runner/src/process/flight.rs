//! A run that is under way in a runner, seen from the server.

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use futures_util::FutureExt;
use tokio::sync::oneshot;
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::Instant;

use super::frames::{FrameError, Mailbox};
use super::messages::{ExchangeNumber, RunNumber, ToRunner};
use crate::{
    Error, Executed, Execution, HttpError, HttpErrorCode, HttpRequest, Limits, Outcome, Ports, StatusDocument,
};

/// A runner ends its runs itself, some milliseconds late. One that is later than this is stuck in something that
/// nothing interrupts.
const WATCH_GRACE: Duration = Duration::from_secs(2);
/// What the host boundary lets a run have under way.
const EXCHANGES_MAX: usize = 64;
/// A status event may grow by being written anew, with escapes and longer numbers, but not more than this.
const EVENT_GROWTH: usize = 8;
/// What the host itself adds to the log of a run.
const LOG_BYTES_MORE: usize = 1 << 10;

type Answer = oneshot::Sender<Result<Executed, Error>>;

/// A run that somebody waits for.
pub struct Job {
    pub execution: Box<Execution>,
    pub ports: Ports,
    pub answer: Answer,
}

/// Why a runner is not listened to any more.
#[derive(Debug, thiserror::Error)]
pub enum Breach {
    #[error("a message that belongs to the beginning")]
    OutOfTurn,
    #[error("a run of it says more than runs may")]
    TooMuch,
    #[error(transparent)]
    Frame(#[from] FrameError),
}

/// Dropping it gives up its HTTP exchanges.
pub struct Flight {
    answer: Answer,
    ports: Ports,
    limits: Limits,
    started: Instant,
    events_left: u32,
    has_failed: bool,
    exchanges: JoinSet<()>,
    under_way: HashMap<ExchangeNumber, AbortHandle>,
}

impl Flight {
    pub fn new(limits: Limits, ports: Ports, answer: Answer) -> Self {
        Self {
            answer,
            ports,
            limits,
            started: Instant::now(),
            events_left: limits.status_events,
            has_failed: false,
            exchanges: JoinSet::new(),
            under_way: HashMap::new(),
        }
    }

    /// When the runner itself should have ended it long ago.
    pub fn deadline(&self) -> Instant {
        self.started + self.limits.wall() + WATCH_GRACE
    }

    /// Hands a status event on.
    ///
    /// # Errors
    /// When the host boundary would not have let it through.
    pub fn event(&mut self, document: &str) -> Result<(), Breach> {
        if document.len() > self.limits.status_event_bytes.saturating_mul(EVENT_GROWTH) {
            return Err(Breach::TooMuch);
        }
        let document: StatusDocument = serde_json::from_str(document).map_err(|_| Breach::TooMuch)?;
        self.events_left = self.events_left.checked_sub(1).ok_or(Breach::TooMuch)?;
        let taken = catch_unwind(AssertUnwindSafe(|| (self.ports.events)(document)));
        self.has_failed |= taken.is_err();
        Ok(())
    }

    /// Whether the host's own code failed, which ends this run and no other.
    pub const fn has_failed(&self) -> bool {
        self.has_failed
    }

    /// The host's own code failed.
    pub fn fail(self) {
        drop(self.answer.send(Err(Error::internal("the host's side of the run panicked")))); // who asked may have gone
    }

    /// Begins an HTTP exchange, whose answer goes to the mailbox.
    ///
    /// # Errors
    /// When the host boundary would not have let it through.
    pub fn request(
        &mut self,
        run: RunNumber,
        exchange: ExchangeNumber,
        request: HttpRequest,
        mailbox: &Mailbox,
    ) -> Result<(), Breach> {
        while self.exchanges.try_join_next().is_some() {}
        self.under_way.retain(|_, exchange| !exchange.is_finished());
        if self.under_way.len() >= EXCHANGES_MAX {
            return Err(Breach::TooMuch);
        }
        let (answer, mailbox) = ((self.ports.http)(request), mailbox.clone());
        let made = async move {
            // A fault of the host must not keep the tool waiting.
            let fault = |_| Err(HttpError::new(HttpErrorCode::Unreachable, "the host failed"));
            let result = AssertUnwindSafe(answer).catch_unwind().await.unwrap_or_else(fault);
            drop(mailbox.post(&ToRunner::HttpAnswer { run, exchange, result }));
        };
        // It begins here, so that requests begin in the order in which they were made.
        let mut made = Box::pin(made);
        if (&mut made).now_or_never().is_none() {
            let handle = self.exchanges.spawn(made);
            self.under_way.insert(exchange, handle);
        }
        Ok(())
    }

    /// The tool wants no answer any more.
    pub fn give_up(&mut self, exchange: ExchangeNumber) {
        if let Some(exchange) = self.under_way.remove(&exchange) {
            exchange.abort();
        }
    }

    /// The end of the run, as the runner tells it.
    ///
    /// # Errors
    /// When it is beyond the run's bounds. Then the run has crashed.
    pub fn land(self, executed: Result<Executed, String>) -> Result<(), Breach> {
        if executed.as_ref().is_ok_and(|executed| !is_within(executed, &self.limits)) {
            self.crash();
            return Err(Breach::TooMuch);
        }
        drop(self.answer.send(executed.map_err(Error::internal))); // who asked may have gone
        Ok(())
    }

    /// It has been under way for too long.
    pub fn time_out(self) {
        let limit = self.limits.wall();
        self.end(Executed::ended(Outcome::timed_out("timeout_wall", limit)));
    }

    /// Its runner is gone.
    pub fn crash(self) {
        const MESSAGE: &str = "the process that ran the tool died; it may not have been this run's doing";
        self.end(Executed::failed("runner_crashed", MESSAGE));
    }

    fn end(self, executed: Executed) {
        let executed = Executed { duration: self.started.elapsed(), ..executed };
        drop(self.answer.send(Ok(executed))); // who asked may have gone
    }
}

/// The host's bounds, which a runner keeps unless a guest got out.
fn is_within(executed: &Executed, limits: &Limits) -> bool {
    let output = if let Outcome::Succeeded { output } = &executed.outcome { output.len() } else { 0 };
    output <= limits.output_bytes && executed.logs.len() <= logs_max(limits)
}

/// Bytes that are no UTF-8 grow to three each.
const fn logs_max(limits: &Limits) -> usize {
    limits.stdio_bytes.saturating_mul(3).saturating_add(LOG_BYTES_MORE)
}
