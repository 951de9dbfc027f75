//! What a build tells while it runs, and the log that is kept of it.

use std::fmt;
use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::mpsc;
use tracing::Instrument;

use crate::metrics;

/// The kept log is cut here: a hostile build could print for ever.
const LOG_BYTES_MAX: usize = 100 << 10;
const CUT: &str = "[truncated]\n";

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BuildEvent {
    Step { name: &'static str, state: StepState },
    Log { line: String },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StepState {
    Started,
    Finished { duration_ms: u64 },
}

/// One report, as it is made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Told {
    Started { step: &'static str },
    Ended { step: &'static str, duration: Duration, failure: Option<String> },
    Line { line: String },
}

type Listener = Arc<dyn Fn(Told) + Send + Sync>;

/// Where a build reports. Clones report to the same place.
#[derive(Clone, Default)]
pub struct Progress {
    listener: Option<Listener>,
    log: Arc<Mutex<String>>,
}

impl Progress {
    /// Nobody listens; the log is kept all the same.
    #[must_use]
    pub fn none() -> Self {
        Self::default()
    }

    /// A build has few events, and its log is bounded, so the channel is not.
    #[must_use]
    pub fn channel() -> (Self, mpsc::UnboundedReceiver<BuildEvent>) {
        let (sender, receiver) = mpsc::unbounded_channel();
        // A listener that is gone misses nothing it wants.
        (Self::to(move |told| drop(sender.send(told.into()))), receiver)
    }

    /// Everything goes to a listener, which must not wait.
    pub(crate) fn to(listener: impl Fn(Told) + Send + Sync + 'static) -> Self {
        Self { listener: Some(Arc::new(listener)), log: Arc::default() }
    }

    /// Runs one step and reports its start, its end and its time.
    pub(crate) async fn step<T, E: fmt::Display>(
        &self,
        step: &'static str,
        work: impl Future<Output = Result<T, E>>,
    ) -> Result<T, E> {
        self.tell(Told::Started { step });
        #[expect(clippy::disallowed_methods, reason = "a duration that is only shown")]
        let started = Instant::now();
        let done = work.instrument(tracing::info_span!("step", step)).await;
        let failure = done.as_ref().err().map(ToString::to_string);
        self.tell(Told::Ended { step, duration: started.elapsed(), failure });
        done
    }

    /// Tells a line, which may be the builder's or its caller's.
    pub fn line(&self, line: impl Into<String>) {
        self.tell(Told::Line { line: line.into() });
    }

    /// Reports what happened here, or in another process.
    pub(crate) fn tell(&self, told: Told) {
        match &told {
            Told::Started { .. } => {}
            Told::Ended { step, duration, failure } => {
                metrics::step(step, *duration);
                match failure {
                    None => self.keep(&format!("{step}: done in {} ms", milliseconds(*duration))),
                    Some(error) => self.keep(&format!("{step}: {error}")),
                }
            }
            Told::Line { line } => self.keep(line),
        }
        if let Some(listener) = &self.listener {
            listener(told);
        }
    }

    /// Everything reported so far.
    #[must_use]
    pub fn log(&self) -> String {
        self.log.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn keep(&self, line: &str) {
        let mut log = self.log.lock().unwrap_or_else(PoisonError::into_inner);
        if log.ends_with(CUT) {
            return;
        }
        if log.len() + line.len() + CUT.len() >= LOG_BYTES_MAX {
            log.push_str(CUT);
            return;
        }
        log.push_str(line);
        log.push('\n');
    }
}

impl fmt::Debug for Progress {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Progress").field("is_heard", &self.listener.is_some()).finish_non_exhaustive()
    }
}

impl From<Told> for BuildEvent {
    fn from(told: Told) -> Self {
        match told {
            Told::Started { step } => Self::Step { name: step, state: StepState::Started },
            Told::Ended { step, duration, .. } => {
                Self::Step { name: step, state: StepState::Finished { duration_ms: milliseconds(duration) } }
            }
            Told::Line { line } => Self::Log { line },
        }
    }
}

fn milliseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_log_is_cut_at_its_bound_and_says_so_once() {
        let progress = Progress::none();
        for _ in 0..3_000 {
            progress.line("x".repeat(100));
        }
        let log = progress.log();
        assert!(log.len() <= LOG_BYTES_MAX, "{}", log.len());
        assert_eq!(log.matches(CUT).count(), 1);
    }
}
