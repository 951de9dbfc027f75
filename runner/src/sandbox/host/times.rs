//! Splits a run's duration into the tool's time, the host's time and waiting.
//!
//! All parts are wall time, so that they add up to the duration. Reading it takes some twenty nanoseconds, twice for
//! each host call.

use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

/// Clones share their counts. Only the thread that runs the guest writes.
#[derive(Clone, Debug)]
pub struct Times(Arc<Counts>);

/// Times in nanoseconds.
#[derive(Debug)]
struct Counts {
    origin: Instant,
    /// Time in which the run's future was polled, up to the last pause.
    polled: AtomicU64,
    /// Time after the origin at which the run last continued; 0 in a pause.
    since: AtomicU64,
    /// Time in host functions, without pauses.
    host: AtomicU64,
}

/// The parts of a run's duration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DurationParts {
    pub guest: Duration,
    pub host: Duration,
    pub waiting: Duration,
}

impl Times {
    #[expect(clippy::disallowed_methods, reason = "durations, measured where the run is")]
    pub fn start() -> Self {
        let zero = || AtomicU64::new(0);
        Self(Arc::new(Counts { origin: Instant::now(), polled: zero(), since: zero(), host: zero() }))
    }

    /// Counts the time of every poll of the future.
    pub async fn measure<F: Future>(&self, future: F) -> F::Output {
        let mut future = pin!(future);
        std::future::poll_fn(|context| self.poll(future.as_mut(), context)).await
    }

    fn poll<F: Future>(&self, future: Pin<&mut F>, context: &mut Context<'_>) -> Poll<F::Output> {
        self.0.since.store(self.read_now().max(1), Ordering::Relaxed);
        let polled = future.poll(context);
        let active = self.read_active();
        self.0.since.store(0, Ordering::Relaxed);
        self.0.polled.store(active, Ordering::Relaxed);
        polled
    }

    /// Time in which the run was polled until now. It does not advance while the run waits.
    pub fn read_active(&self) -> u64 {
        let since = self.0.since.load(Ordering::Relaxed);
        let running = if since == 0 { 0 } else { self.read_now().saturating_sub(since) };
        self.0.polled.load(Ordering::Relaxed).saturating_add(running)
    }

    /// Ends a host call that began at this active time.
    pub fn end_host_call(&self, began: u64) {
        self.0.host.fetch_add(self.read_active().saturating_sub(began), Ordering::Relaxed);
    }

    /// Splits a duration into its parts.
    pub fn compute_parts(&self, duration: Duration) -> DurationParts {
        let active = Duration::from_nanos(self.read_active());
        let host = Duration::from_nanos(self.0.host.load(Ordering::Relaxed));
        DurationParts { guest: active.saturating_sub(host), host, waiting: duration.saturating_sub(active) }
    }

    fn read_now(&self) -> u64 {
        u64::try_from(self.0.origin.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PART: Duration = Duration::from_millis(40);

    #[tokio::test]
    async fn every_part_has_its_time() {
        let times = Times::start();
        let work = async {
            std::thread::sleep(PART);
            let began = times.read_active();
            std::thread::sleep(PART);
            tokio::time::sleep(2 * PART).await; // a call that waits
            std::thread::sleep(PART);
            times.end_host_call(began);
        };
        times.measure(work).await;
        let duration = times.0.origin.elapsed();
        let DurationParts { guest, host, waiting } = times.compute_parts(duration);
        assert!(
            guest >= PART && host >= 2 * PART && waiting >= 2 * PART - Duration::from_millis(2),
            "{guest:?} {host:?} {waiting:?}"
        );
        assert_eq!(guest + host + waiting, duration);
        std::thread::sleep(PART);
        assert_eq!(
            times.compute_parts(duration),
            DurationParts { guest, host, waiting },
            "no time is counted in a pause"
        );
    }
}
