//! Where a run's time goes: to the tool, to the host's functions, or to waiting.
//!
//! Wall time, since that is what adds up to a run's duration, and since reading it takes some twenty nanoseconds, which
//! a call of the host can afford twice.

use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

/// Clones count together. Only the thread that runs the guest writes.
#[derive(Clone, Debug)]
pub struct Times(Arc<Counts>);

/// Nanoseconds.
#[derive(Debug)]
struct Counts {
    origin: Instant,
    /// While the run's future was polled, up to the last pause.
    polled: AtomicU64,
    /// After the origin, when the run went on; 0 in a pause.
    since: AtomicU64,
    /// In functions of the host, pauses left out.
    host: AtomicU64,
}

/// The parts of a run's duration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parts {
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

    /// Counts what the future takes whenever it is polled.
    pub async fn counts<F: Future>(&self, future: F) -> F::Output {
        let mut future = pin!(future);
        std::future::poll_fn(|context| self.poll(future.as_mut(), context)).await
    }

    fn poll<F: Future>(&self, future: Pin<&mut F>, context: &mut Context<'_>) -> Poll<F::Output> {
        self.0.since.store(self.now().max(1), Ordering::Relaxed);
        let polled = future.poll(context);
        let active = self.active();
        self.0.since.store(0, Ordering::Relaxed);
        self.0.polled.store(active, Ordering::Relaxed);
        polled
    }

    /// What the run was polled until now. It stands still while it waits.
    pub fn active(&self) -> u64 {
        let since = self.0.since.load(Ordering::Relaxed);
        let running = if since == 0 { 0 } else { self.now().saturating_sub(since) };
        self.0.polled.load(Ordering::Relaxed).saturating_add(running)
    }

    /// Ends a call of the host that began when the run had been polled this long.
    pub fn called(&self, began: u64) {
        self.0.host.fetch_add(self.active().saturating_sub(began), Ordering::Relaxed);
    }

    /// The parts of this duration.
    pub fn parts(&self, duration: Duration) -> Parts {
        let active = Duration::from_nanos(self.active());
        let host = Duration::from_nanos(self.0.host.load(Ordering::Relaxed));
        Parts { guest: active.saturating_sub(host), host, waiting: duration.saturating_sub(active) }
    }

    fn now(&self) -> u64 {
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
            let began = times.active();
            std::thread::sleep(PART);
            tokio::time::sleep(2 * PART).await; // a call that waits
            std::thread::sleep(PART);
            times.called(began);
        };
        times.counts(work).await;
        let duration = times.0.origin.elapsed();
        let Parts { guest, host, waiting } = times.parts(duration);
        assert!(
            guest >= PART && host >= 2 * PART && waiting >= 2 * PART - Duration::from_millis(2),
            "{guest:?} {host:?} {waiting:?}"
        );
        assert_eq!(guest + host + waiting, duration);
        std::thread::sleep(PART);
        assert_eq!(times.parts(duration), Parts { guest, host, waiting }, "nothing is counted in a pause");
    }
}
