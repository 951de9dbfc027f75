//! The runtime watchdog: a thread that measures how long worker threads of the runtime are stalled in one task.
//!
//! A worker that parses or compresses for seconds serves no request meanwhile, and tasks cannot detect that. Tokio's
//! metrics say for each worker whether it is parked and how long it was busy; the busy time changes every few tasks. A
//! worker that is not parked and whose metrics do not change is stalled. In addition a probe, a task with a timer,
//! measures the delay of the runtime as a whole.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{Builder, Thread, park_timeout};
use std::time::Duration;

use metrics::{describe_gauge, gauge};
use tokio::runtime::{Handle, RuntimeMetrics};
use tokio::time::{Instant, sleep};

const STALL_SECONDS: &str = "lathe_runtime_stall_seconds";

/// Interval of the measurements, and their precision. A measurement takes microseconds.
const PERIOD: Duration = Duration::from_millis(250);

/// Duration of the probe's timer, well below [`PERIOD`].
const PROBE_TIME: Duration = Duration::from_millis(10);

/// Maximum time that one measurement adds to a stall. A longer interval means that the machine or the process was
/// suspended.
const GAP_MAX: Duration = Duration::from_millis(500);

/// Duration above which a stall is logged. Regular work of a worker takes less than a tenth of it.
const WARNING_MIN: Duration = Duration::from_secs(1);

/// Measurements per half of the window. The gauge shows the longest stall of the last 30 to 60 seconds, since metrics
/// are scraped every 15 to 60 seconds.
const SAMPLES_PER_HALF: u32 = 120;

/// The running watchdog. It ends when this is dropped.
pub struct StallWatch {
    is_over: Arc<AtomicBool>,
    thread: Thread,
}

impl StallWatch {
    /// Starts a watchdog of a runtime.
    ///
    /// # Errors
    /// If the thread cannot be started.
    pub fn start(runtime: Handle) -> std::io::Result<Self> {
        describe_gauge!(STALL_SECONDS, "Longest stall of a runtime thread in the last 30 to 60 seconds");
        let is_over = Arc::<AtomicBool>::default();
        let seen = is_over.clone();
        let thread = Builder::new().name("runtime-watchdog".to_owned()).spawn(move || watch(&runtime, &seen))?;
        Ok(Self { is_over, thread: thread.thread().clone() })
    }
}

impl Drop for StallWatch {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        self.thread.unpark();
    }
}

fn watch(runtime: &Handle, is_over: &AtomicBool) {
    let metrics = runtime.metrics();
    let mut workers = vec![Worker::default(); metrics.num_workers()];
    let (mut probe, mut longest, mut was_warned) = (Probe::start(runtime), Longest::default(), false);
    let mut measured_at = Instant::now();
    while !is_over.load(Ordering::Relaxed) {
        park_timeout(PERIOD);
        let gap = measured_at.elapsed().min(GAP_MAX);
        measured_at = Instant::now();
        let stalled = workers
            .iter_mut()
            .enumerate()
            .map(|(index, worker)| worker.measure(WorkerState::of(&metrics, index), gap))
            .max();
        let stalled = stalled.unwrap_or_default().max(probe.measure(gap));
        if probe.has_run() {
            probe = Probe::start(runtime);
        }
        gauge!(STALL_SECONDS).set(longest.with(stalled).as_secs_f64());
        if stalled > WARNING_MIN && !was_warned {
            tracing::warn!(stalled_ms = stalled.as_millis(), "a thread that answers requests is stalled");
        }
        was_warned = stalled > WARNING_MIN;
    }
}

/// A worker's metrics.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
struct WorkerState {
    /// The number of parks and unparks, odd while the worker is parked.
    parked_and_unparked: u64,
    busy: Duration,
}

impl WorkerState {
    fn of(metrics: &RuntimeMetrics, index: usize) -> Self {
        Self {
            parked_and_unparked: metrics.worker_park_unpark_count(index),
            busy: metrics.worker_total_busy_duration(index),
        }
    }

    const fn is_parked(self) -> bool {
        self.parked_and_unparked % 2 == 1
    }
}

#[derive(Clone, Default)]
struct Worker {
    state: WorkerState,
    stalled: Duration,
}

impl Worker {
    /// Returns how long the worker has been in one task, `gap` after the previous call.
    fn measure(&mut self, state: WorkerState, gap: Duration) -> Duration {
        let is_stalled = state == self.state && !state.is_parked();
        self.stalled = if is_stalled { self.stalled + gap } else { Duration::ZERO };
        self.state = state;
        self.stalled
    }
}

/// A task with a timer that measures the timer's delay.
struct Probe {
    delay_us: Arc<AtomicU64>,
    waited: Duration,
}

/// The delay of a probe that has not run yet.
const PENDING: u64 = u64::MAX;

impl Probe {
    fn start(runtime: &Handle) -> Self {
        let delay_us = Arc::new(AtomicU64::new(PENDING));
        let (reported, began) = (delay_us.clone(), Instant::now());
        // The task is detached and ends with the runtime.
        drop(runtime.spawn(async move {
            sleep(PROBE_TIME).await;
            let delay = began.elapsed().saturating_sub(PROBE_TIME).as_micros();
            reported.store(u64::try_from(delay).unwrap_or(PENDING - 1), Ordering::Relaxed);
        }));
        Self { delay_us, waited: Duration::ZERO }
    }

    fn has_run(&self) -> bool {
        self.delay_us.load(Ordering::Relaxed) != PENDING
    }

    /// Returns the probe's delay so far, at most the time that the watchdog has measured.
    fn measure(&mut self, gap: Duration) -> Duration {
        self.waited += gap;
        Duration::from_micros(self.delay_us.load(Ordering::Relaxed)).min(self.waited)
    }
}

/// The longest stall in a window of two halves.
#[derive(Default)]
struct Longest {
    before: Duration,
    now: Duration,
    samples: u32,
}

impl Longest {
    fn with(&mut self, stalled: Duration) -> Duration {
        if self.samples == SAMPLES_PER_HALF {
            *self = Self { before: self.now, ..Self::default() };
        }
        self.samples += 1;
        self.now = self.now.max(stalled);
        self.now.max(self.before)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    #[test]
    fn an_active_worker_without_progress_is_stalled() {
        let mut worker = Worker::default();
        let mut measure = |parked_and_unparked, busy_ms| {
            worker.measure(WorkerState { parked_and_unparked, busy: Duration::from_millis(busy_ms) }, PERIOD)
        };
        assert_eq!([measure(1, 5), measure(1, 5)], [Duration::ZERO; 2], "parked");
        assert_eq!([measure(2, 5), measure(2, 5), measure(2, 5)], [Duration::ZERO, PERIOD, PERIOD * 2]);
        assert_eq!([measure(2, 900), measure(4, 900)], [Duration::ZERO; 2], "progress");
    }

    #[test]
    fn a_stall_is_reported_for_a_while() {
        let mut longest = Longest::default();
        longest.with(PERIOD);
        let reported = (1..SAMPLES_PER_HALF * 2 + 2)
            .map(|_| longest.with(Duration::ZERO))
            .take_while(|reported| *reported == PERIOD)
            .count();
        assert_eq!(reported, (SAMPLES_PER_HALF * 2 - 1) as usize);
    }

    /// The whole watchdog, with a runtime whose only worker is blocked for longer than the warning's limit.
    #[test]
    fn a_stall_is_measured_and_logged() {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let (release, released) = mpsc::channel::<()>();
        runtime.spawn(async move { released.recv().unwrap_err() });
        let recorder = metrics_exporter_prometheus::PrometheusBuilder::new().build_recorder();
        let (scrape, log, is_over) = (recorder.handle(), Log::default(), Arc::<AtomicBool>::default());
        let shown = std::thread::scope(|scope| {
            let (seen, writer) = (is_over.clone(), log.clone());
            let subscriber = tracing_subscriber::fmt().with_writer(move || writer.clone()).finish();
            let watched = runtime.handle();
            scope.spawn(move || {
                metrics::with_local_recorder(&recorder, || {
                    tracing::subscriber::with_default(subscriber, || watch(watched, &seen));
                });
            });
            while !log.read_text().contains("a thread that answers requests is stalled") {
                std::thread::yield_now();
            }
            is_over.store(true, Ordering::Relaxed);
            scrape.render()
        });
        drop(release);
        let seconds = shown.lines().find_map(|line| line.strip_prefix("lathe_runtime_stall_seconds ")).unwrap();
        assert!(seconds.parse::<f64>().unwrap() > WARNING_MIN.as_secs_f64(), "{shown}");
    }

    /// The lines that a subscriber writes.
    #[derive(Clone, Default)]
    struct Log(Arc<std::sync::Mutex<Vec<u8>>>);

    impl Log {
        fn read_text(&self) -> String {
            String::from_utf8_lossy(&self.0.lock().unwrap()).into_owned()
        }
    }

    impl std::io::Write for Log {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_task_that_blocks_one_of_two_workers_is_seen() {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        let (release, released) = mpsc::channel::<()>();
        let (begin, begun) = mpsc::channel();
        runtime.spawn(async move {
            begin.send(()).unwrap();
            released.recv().unwrap_err();
        });
        begun.recv().unwrap();
        let metrics = runtime.metrics();
        let mut workers = vec![Worker::default(); 2];
        let stalled =
            |worker: &mut Worker, index| worker.measure(WorkerState::of(&metrics, index), PERIOD) > WARNING_MIN;
        // The other worker may need some measurements until it is parked.
        while workers.iter_mut().enumerate().filter_map(|(index, worker)| stalled(worker, index).then_some(())).count()
            != 1
        {
            std::thread::yield_now();
        }
        drop(release);
        while workers.iter_mut().enumerate().any(|(index, worker)| stalled(worker, index)) {
            std::thread::yield_now();
        }
    }
}
