//! The events of a running build, and its log.

use std::fmt;
use std::future::Future;
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use tokio::sync::mpsc;
use tracing::Instrument;

use crate::metrics;
use crate::text::cut;

/// Bytes of the log; a hostile build could print without end.
const LOG_BYTES_MAX: usize = 100 << 10;
/// Warnings of one build that its response lists. Nobody reads more; the log has all of them.
const WARNINGS_MAX: usize = 50;
/// The last line of a log that is cut.
const TRUNCATED: &str = "[truncated]\n";

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

/// A report of a build to its listener.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum BuildReport {
    Started { step: &'static str },
    Ended { step: &'static str, duration: Duration, failure: Option<String> },
    Line { line: String },
}

type Listener = Arc<dyn Fn(BuildReport) + Send + Sync>;

/// The receiver of a build's reports. Clones share the log and the listener.
#[derive(Clone, Default)]
pub struct BuildProgress {
    listener: Option<Listener>,
    log: Arc<Mutex<BuildLog>>,
    warnings: Arc<Mutex<Vec<String>>>,
}

#[derive(Default)]
struct BuildLog {
    text: String,
    /// Whether lines were left out at the end. Authors print the line that says so, too.
    is_full: bool,
}

impl BuildProgress {
    /// A receiver that only keeps the log.
    #[must_use]
    pub fn none() -> Self {
        Self::default()
    }

    /// A receiver that sends events to a channel. The channel is unbounded, since a build's events and log are bounded.
    #[must_use]
    pub fn channel() -> (Self, mpsc::UnboundedReceiver<BuildEvent>) {
        let (sender, receiver) = mpsc::unbounded_channel();
        // The receiver may have been dropped.
        (Self::to(move |report| drop(sender.send(report.into()))), receiver)
    }

    /// A receiver that passes all reports to a listener. The listener must not block.
    pub(crate) fn to(listener: impl Fn(BuildReport) + Send + Sync + 'static) -> Self {
        Self { listener: Some(Arc::new(listener)), ..Self::default() }
    }

    /// Runs a step, and reports its start, its end and its duration.
    pub(crate) async fn run_step<T, E: fmt::Display>(
        &self,
        step: &'static str,
        work: impl Future<Output = Result<T, E>>,
    ) -> Result<T, E> {
        self.report(BuildReport::Started { step });
        #[expect(clippy::disallowed_methods, reason = "the duration is only shown")]
        let started = Instant::now();
        let done = work.instrument(tracing::info_span!("step", step)).await;
        let failure = done.as_ref().err().map(|error| cut(error.to_string()));
        self.report(BuildReport::Ended { step, duration: started.elapsed(), failure });
        done
    }

    /// Adds a line to the log.
    pub fn line(&self, line: impl Into<String>) {
        self.report(BuildReport::Line { line: cut(line.into()) });
    }

    /// Adds a warning: a declaration that builds, but most likely does not do what its author means.
    pub fn warn(&self, warning: impl Into<String>) {
        let warning = cut(warning.into());
        self.line(format!("warning: {warning}"));
        let mut warnings = self.warnings.lock();
        if warnings.len() < WARNINGS_MAX {
            warnings.push(warning);
        }
    }

    /// The warnings so far.
    #[must_use]
    pub fn warnings(&self) -> Vec<String> {
        self.warnings.lock().clone()
    }

    /// Passes on a report of this process or of a worker.
    pub(crate) fn report(&self, report: BuildReport) {
        match &report {
            BuildReport::Started { .. } => {}
            BuildReport::Ended { step, duration, failure } => {
                metrics::record_step(step, *duration);
                match failure {
                    None => self.append(&format!("{step}: done in {} ms", count_milliseconds(*duration))),
                    Some(error) => self.append(&format!("{step}: {error}")),
                }
            }
            BuildReport::Line { line } => self.append(line),
        }
        if let Some(listener) = &self.listener {
            listener(report);
        }
    }

    /// The log so far.
    #[must_use]
    pub fn log(&self) -> String {
        self.log.lock().text.clone()
    }

    fn append(&self, line: &str) {
        let mut log = self.log.lock();
        if log.is_full {
            return;
        }
        if log.text.len() + line.len() + TRUNCATED.len() >= LOG_BYTES_MAX {
            log.is_full = true;
            log.text.push_str(TRUNCATED);
            return;
        }
        log.text.push_str(line);
        log.text.push('\n');
    }
}

impl fmt::Debug for BuildProgress {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("BuildProgress").field("has_listener", &self.listener.is_some()).finish_non_exhaustive()
    }
}

impl From<BuildReport> for BuildEvent {
    fn from(report: BuildReport) -> Self {
        match report {
            BuildReport::Started { step } => Self::Step { name: step, state: StepState::Started },
            BuildReport::Ended { step, duration, .. } => {
                Self::Step { name: step, state: StepState::Finished { duration_ms: count_milliseconds(duration) } }
            }
            BuildReport::Line { line } => Self::Log { line },
        }
    }
}

pub(crate) fn count_milliseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_warning_is_a_line_of_the_log() {
        let progress = BuildProgress::none();
        progress.line("warning: of a compiler");
        progress.warn("nothing has changed");
        assert!(progress.log().ends_with("warning: nothing has changed\n"), "{}", progress.log());
        assert_eq!(progress.warnings(), ["nothing has changed"]);
        (0..100).for_each(|_| progress.warn("again"));
        assert_eq!(progress.warnings().len(), WARNINGS_MAX);
    }

    #[test]
    fn a_line_that_looks_like_the_end_of_a_log_does_not_end_it() {
        let progress = BuildProgress::none();
        ["[truncated]", "last"].into_iter().for_each(|line| progress.line(line));
        assert_eq!(progress.log(), "[truncated]\nlast\n");
    }

    #[test]
    fn the_log_is_truncated_once() {
        let progress = BuildProgress::none();
        for _ in 0..3_000 {
            progress.line("x".repeat(100));
        }
        let log = progress.log();
        assert!(log.len() <= LOG_BYTES_MAX, "{}", log.len());
        assert_eq!(log.matches(TRUNCATED).count(), 1);
    }
}
