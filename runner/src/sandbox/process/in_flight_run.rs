//! The server's state of a run in a runner.

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use futures_util::FutureExt;
use registry::ContentCollector;
use tokio::sync::oneshot;
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::Instant;

use super::messages::ExchangeNumber;
use crate::sandbox::frames::FrameError;
use crate::sandbox::outcome::build_wall_timeout;
use crate::sandbox::ports::{LOG_DATA_BYTES_MAX, LOG_MESSAGES_MAX, LOGGER_BYTES_MAX};
use crate::{
    Error, EventDocument, Executed, Execution, HttpAnswer, HttpError, HttpErrorCode, HttpRequest, Limits, LogDocument,
    Outcome, Ports, StatusDocument,
};

/// Time after a run's deadline until the server ends it. A runner ends its runs itself, some milliseconds late; a later run is
/// stuck in code that nothing interrupts.
const WATCH_GRACE: Duration = Duration::from_secs(2);
/// Concurrent HTTP exchanges of a run; the runner enforces the same bound.
const EXCHANGES_MAX: usize = 64;
/// Factor by which a status event may grow when it is serialised again, with escapes and longer numbers.
const EVENT_GROWTH: usize = 8;
/// Bytes of a log message as it is serialised again.
const LOG_DOCUMENT_BYTES_MAX: usize = (LOG_DATA_BYTES_MAX + LOGGER_BYTES_MAX) * EVENT_GROWTH;
/// Bytes that the host adds to the log of a run: a truncation mark, and a count of refused events.
const HOST_LOG_BYTES_MAX: usize = 1 << 10;

type ResultSender = oneshot::Sender<Result<Executed, Error>>;

/// A run to begin, and the channel for its answer.
pub struct Job {
    pub execution: Box<Execution>,
    pub ports: Ports,
    pub answer: ResultSender,
}

/// Reason for which a runner is killed.
#[derive(Debug, thiserror::Error)]
pub enum ProtocolViolation {
    #[error("the runner sent its first message again")]
    UnexpectedMessage,
    #[error("a run exceeded its message limits")]
    LimitExceeded,
    #[error(transparent)]
    Frame(#[from] FrameError),
}

/// A run in a runner. Dropping it cancels its HTTP exchanges.
pub struct InFlightRun {
    answer: ResultSender,
    ports: Ports,
    limits: Limits,
    started: Instant,
    events_left: u32,
    log_messages_left: u32,
    has_failed: bool,
    exchanges: JoinSet<()>,
    exchange_tasks: HashMap<ExchangeNumber, AbortHandle>,
}

impl InFlightRun {
    pub fn new(limits: Limits, ports: Ports, answer: ResultSender) -> Self {
        Self {
            answer,
            ports,
            limits,
            started: Instant::now(),
            events_left: limits.status_events,
            log_messages_left: LOG_MESSAGES_MAX,
            has_failed: false,
            exchanges: JoinSet::new(),
            exchange_tasks: HashMap::new(),
        }
    }

    /// Time at which the server ends the run, because its runner did not.
    pub fn deadline(&self) -> Instant {
        self.started + self.limits.wall() + WATCH_GRACE
    }

    /// Passes on a status event.
    ///
    /// # Errors
    /// When the event exceeds the run's limits.
    pub fn pass_event(&mut self, document: &str) -> Result<(), ProtocolViolation> {
        if document.len() > self.limits.status_event_bytes.saturating_mul(EVENT_GROWTH) {
            return Err(ProtocolViolation::LimitExceeded);
        }
        let document: StatusDocument = serde_json::from_str(document).map_err(|_| ProtocolViolation::LimitExceeded)?;
        self.events_left = self.events_left.checked_sub(1).ok_or(ProtocolViolation::LimitExceeded)?;
        self.deliver(EventDocument::Status(document));
        Ok(())
    }

    /// Passes on a log message.
    ///
    /// # Errors
    /// When the message exceeds the limits.
    pub fn log(&mut self, document: &str) -> Result<(), ProtocolViolation> {
        if document.len() > LOG_DOCUMENT_BYTES_MAX {
            return Err(ProtocolViolation::LimitExceeded);
        }
        let document: LogDocument = serde_json::from_str(document).map_err(|_| ProtocolViolation::LimitExceeded)?;
        if document.logger.as_ref().is_some_and(|logger| !LogDocument::is_logger(logger)) {
            return Err(ProtocolViolation::LimitExceeded);
        }
        self.log_messages_left = self.log_messages_left.checked_sub(1).ok_or(ProtocolViolation::LimitExceeded)?;
        self.deliver(EventDocument::Log(document));
        Ok(())
    }

    fn deliver(&mut self, document: EventDocument) {
        let delivered = catch_unwind(AssertUnwindSafe(|| (self.ports.events)(document)));
        self.has_failed |= delivered.is_err();
    }

    /// Returns whether the host's code for this run panicked, which ends this run and no other.
    pub const fn has_failed(&self) -> bool {
        self.has_failed
    }

    /// Ends the run after the host's code for it panicked.
    pub fn fail(self) {
        drop(self.answer.send(Err(Error::internal("the host's side of the run panicked")))); // the caller may be gone
    }

    /// Begins an HTTP exchange, and passes its result to `answer`.
    ///
    /// # Errors
    /// When the run has too many exchanges.
    pub fn request(
        &mut self,
        exchange: ExchangeNumber,
        request: HttpRequest,
        answer: impl FnOnce(HttpAnswer) + Send + 'static,
    ) -> Result<(), ProtocolViolation> {
        while self.exchanges.try_join_next().is_some() {}
        self.exchange_tasks.retain(|_, exchange| !exchange.is_finished());
        if self.exchange_tasks.len() >= EXCHANGES_MAX {
            return Err(ProtocolViolation::LimitExceeded);
        }
        let response = (self.ports.http)(request);
        let exchanged = async move {
            // A panic of the host must not keep the tool waiting.
            let panicked = |_| Err(HttpError::new(HttpErrorCode::Unreachable, "the host failed"));
            answer(AssertUnwindSafe(response).catch_unwind().await.unwrap_or_else(panicked));
        };
        // Polled here first, so that requests begin in the order in which they were made.
        let mut exchanged = Box::pin(exchanged);
        if (&mut exchanged).now_or_never().is_none() {
            let handle = self.exchanges.spawn(exchanged);
            self.exchange_tasks.insert(exchange, handle);
        }
        Ok(())
    }

    /// Cancels an exchange whose tool no longer waits for it.
    pub fn cancel_exchange(&mut self, exchange: ExchangeNumber) {
        if let Some(exchange) = self.exchange_tasks.remove(&exchange) {
            exchange.abort();
        }
    }

    /// Ends the run with the runner's result.
    ///
    /// # Errors
    /// When the result exceeds the run's limits. The run then counts as crashed.
    pub fn end(self, executed: Result<Executed, String>) -> Result<(), ProtocolViolation> {
        if executed.as_ref().is_ok_and(|executed| !is_within(executed, &self.limits)) {
            self.crash();
            return Err(ProtocolViolation::LimitExceeded);
        }
        drop(self.answer.send(executed.map_err(Error::internal))); // the caller may be gone
        Ok(())
    }

    /// Ends a run whose deadline has passed.
    pub fn time_out(self) {
        let limit = self.limits.wall();
        self.answer(Executed::ended(build_wall_timeout(limit)));
    }

    /// Ends a run whose runner is gone.
    pub fn crash(self) {
        const MESSAGE: &str =
            "the process that ran the tool died; another run in the same process may have been the cause";
        self.answer(Executed::failed("runner_crashed", MESSAGE));
    }

    fn answer(self, executed: Executed) {
        let executed = Executed { duration: self.started.elapsed(), ..executed };
        drop(self.answer.send(Ok(executed))); // the caller may be gone
    }
}

/// Returns whether a result keeps the limits that a runner enforces unless a guest escaped.
fn is_within(executed: &Executed, limits: &Limits) -> bool {
    let output = if let Outcome::Succeeded { output } = &executed.outcome { output.len() } else { 0 };
    let mut collector = ContentCollector::default();
    let has_valid_content = executed.content.iter().all(|block| collector.add(block.clone()).is_ok());
    output <= limits.output_bytes
        && executed.logs.bytes() <= logs_max(limits)
        && has_valid_content
        && executed.asked.is_within_bounds()
}

/// Bound of a log: each byte that is not UTF-8 is replaced by three.
const fn logs_max(limits: &Limits) -> usize {
    limits.stdio_bytes.saturating_mul(3).saturating_add(HOST_LOG_BYTES_MAX)
}
