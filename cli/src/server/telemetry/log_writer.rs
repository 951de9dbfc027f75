//! The writer of the log's lines.
//!
//! Warnings and errors are written by the thread that logs them, before it goes on. A thread of its own
//! (`tracing-appender`) writes all other lines, so that a request does not wait for stderr; it pauses after each write, and
//! the lines of a pause are written together. Each line has its time, since a warning can precede a line that was logged
//! before it.

use std::io::{self, BufWriter, Stderr, Write};
use std::sync::OnceLock;
use std::thread;
use std::time::Duration;

use tracing::Level;
use tracing_appender::non_blocking::{ErrorCounter, NonBlocking, NonBlockingBuilder, WorkerGuard};
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::fmt::writer::{MakeWriterExt, OrElse, WithMaxLevel};

/// Lines that wait for the log's thread: some seconds of a busy server, about 8 MB. Further lines are dropped and
/// counted.
const WAITING_LINES_MAX: usize = 16_384;

/// The pause of the log's thread after a write. During a pause, a line costs its request no wake-up of the thread.
const PAUSE: Duration = Duration::from_millis(10);

/// Dropped lines of this process.
static LINES_DROPPED: OnceLock<ErrorCounter> = OnceLock::new();

/// Writes warnings and errors to `U`, and other lines through the log's thread.
type ByLevel<U> = OrElse<WithMaxLevel<U>, NonBlocking>;

pub type LogWriter = ByLevel<fn() -> Stderr>;

/// Starts the log's thread. Dropping the guard writes the waiting lines.
pub fn start() -> (LogWriter, WorkerGuard) {
    let (lines, guard) = start_thread(io::stderr());
    // Fails only for a second log of the process, which cannot start anyway.
    let _ = LINES_DROPPED.set(lines.error_counter());
    let stderr: fn() -> Stderr = io::stderr;
    (split_by_level(stderr, lines), guard)
}

/// Returns the lines of this process that were dropped, since stderr's reader was too slow.
pub fn count_dropped_lines() -> u64 {
    LINES_DROPPED.get().map_or(0, |counter| counter.dropped_lines() as u64)
}

fn start_thread(output: impl Write + Send + 'static) -> (NonBlocking, WorkerGuard) {
    NonBlockingBuilder::default()
        .buffered_lines_limit(WAITING_LINES_MAX)
        .thread_name("log")
        .finish(PausingWriter(BufWriter::new(output)))
}

/// The output of the log's thread, which flushes it when no line waits.
struct PausingWriter<W: Write>(BufWriter<W>);

impl<W: Write> Write for PausingWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        let flushed = self.0.flush();
        thread::sleep(PAUSE);
        flushed
    }
}

fn split_by_level<U: for<'w> MakeWriter<'w>>(urgent: U, others: NonBlocking) -> ByLevel<U> {
    urgent.with_max_level(Level::WARN).or_else(others)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::mpsc::{Receiver, Sender, channel};

    use parking_lot::Mutex;
    use tempfile::NamedTempFile;
    use tracing_subscriber::layer::SubscriberExt;

    use super::*;
    use crate::server::telemetry::human;

    /// Output whose first write waits for the test.
    struct Output {
        writes: Arc<Mutex<Vec<String>>>,
        started: Sender<()>,
        released: Receiver<()>,
    }

    impl Write for Output {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let _ = self.started.send(());
            let _ = self.released.recv();
            self.writes.lock().push(String::from_utf8(bytes.to_vec()).unwrap());
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    /// A log whose thread is stuck in the write of the line `first`.
    struct StuckLog {
        lines: NonBlocking,
        guard: WorkerGuard,
        writes: Arc<Mutex<Vec<String>>>,
        release: Sender<()>,
        has_started: Receiver<()>,
    }

    impl StuckLog {
        fn start() -> Self {
            let ((started, has_started), (release, released)) = (channel(), channel());
            let writes = Arc::<Mutex<Vec<String>>>::default();
            let (mut lines, guard) = start_thread(Output { writes: writes.clone(), started, released });
            lines.write_all(b"first\n").unwrap();
            has_started.recv().unwrap();
            Self { lines, guard, writes, release, has_started }
        }

        /// Returns the writes after the end of the thread, which then drops its output.
        fn release(self) -> Vec<String> {
            drop((self.release, self.lines, self.guard));
            while self.has_started.recv().is_ok() {}
            self.writes.lock().clone()
        }
    }

    #[test]
    fn waiting_lines_are_written_together_and_in_order() {
        let mut log = StuckLog::start();
        let lines: Vec<_> = (0..500).map(|number| format!("{number}\n")).collect();
        lines.iter().for_each(|line| log.lines.write_all(line.as_bytes()).unwrap());
        let writes = log.release();
        assert_eq!(writes.concat(), format!("first\n{}", lines.concat()));
        assert!(writes.len() < 10, "{} writes", writes.len());
    }

    #[test]
    fn lines_beyond_the_bound_are_dropped_and_counted() {
        let mut log = StuckLog::start();
        (0..WAITING_LINES_MAX + 7).for_each(|_| log.lines.write_all(b"x").unwrap());
        assert_eq!(log.lines.error_counter().dropped_lines(), 7);
        assert_eq!(log.release().concat().len(), "first\n".len() + WAITING_LINES_MAX);
    }

    #[test]
    fn warnings_do_not_wait_for_the_thread() {
        let log = StuckLog::start();
        let urgent = NamedTempFile::new().unwrap();
        let writer = split_by_level(urgent.reopen().unwrap(), log.lines.clone());
        let subscriber = tracing_subscriber::registry().with(human::build_layer(writer, false));
        tracing::subscriber::with_default(subscriber, || {
            tracing::info!("later");
            tracing::warn!("at once");
        });
        let urgent = std::fs::read_to_string(urgent.path()).unwrap();
        assert!(urgent.contains("at once") && !urgent.contains("later"), "{urgent}");
        let others = log.release().concat();
        assert!(others.contains("later") && !others.contains("at once"), "{others}");
    }
}
