//! What a build tells while it runs, and the log that is kept of it.

use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

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

/// Where a build reports. Clones report to the same place.
#[derive(Debug, Clone, Default)]
pub struct Progress {
    listener: Option<mpsc::UnboundedSender<BuildEvent>>,
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
        (Self { listener: Some(sender), log: Arc::default() }, receiver)
    }

    /// Runs one step and reports its start, its end and its time.
    pub(crate) async fn step<T, E: std::fmt::Display>(
        &self,
        name: &'static str,
        work: impl Future<Output = Result<T, E>>,
    ) -> Result<T, E> {
        self.send(BuildEvent::Step { name, state: StepState::Started });
        #[expect(clippy::disallowed_methods, reason = "a duration that is only shown")]
        let started = Instant::now();
        let done = work.instrument(tracing::info_span!("step", step = name)).await;
        let duration = started.elapsed();
        metrics::step(name, duration);
        let duration_ms = u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
        match &done {
            Ok(_) => self.keep(&format!("{name}: done in {duration_ms} ms")),
            Err(error) => self.keep(&format!("{name}: {error}")),
        }
        self.send(BuildEvent::Step { name, state: StepState::Finished { duration_ms } });
        done
    }

    /// Tells a line, which may be the builder's or its caller's.
    pub fn line(&self, line: impl Into<String>) {
        let line = line.into();
        self.keep(&line);
        self.send(BuildEvent::Log { line });
    }

    /// Everything reported so far.
    #[must_use]
    pub fn log(&self) -> String {
        self.log.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn send(&self, event: BuildEvent) {
        if let Some(listener) = &self.listener {
            drop(listener.send(event)); // a listener that is gone misses nothing it wants
        }
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
