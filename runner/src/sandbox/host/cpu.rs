//! Computing time of a run: CPU time of the thread while it polls the run's future.
//!
//! Counting ticks would not be exact: one instruction can fill all of memory and take as long as many ticks.

use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use nix::time::{ClockId, clock_gettime};

/// Clones share their counts. Only the thread that runs the guest writes.
#[derive(Clone, Debug, Default)]
pub struct Cpu(Arc<Counts>);

#[derive(Debug, Default)]
struct Counts {
    /// Nanoseconds up to the last pause.
    before: AtomicU64,
    /// CPU time of the thread when the guest last continued, in nanoseconds; 0 in a pause.
    since: AtomicU64,
}

impl Cpu {
    pub fn read_spent(&self) -> Duration {
        let since = self.0.since.load(Ordering::Relaxed);
        let running = if since == 0 { 0 } else { read_thread_nanoseconds().saturating_sub(since) };
        Duration::from_nanos(self.0.before.load(Ordering::Relaxed).saturating_add(running))
    }

    /// Milliseconds, rounded up.
    pub fn read_milliseconds(&self) -> u64 {
        u64::try_from(self.read_spent().as_nanos().div_ceil(1_000_000)).unwrap_or(u64::MAX)
    }

    /// Counts the CPU time of every poll of the future.
    pub async fn measure<F: Future>(&self, future: F) -> F::Output {
        let mut future = pin!(future);
        std::future::poll_fn(|context| self.poll(future.as_mut(), context)).await
    }

    fn poll<F: Future>(&self, future: Pin<&mut F>, context: &mut Context<'_>) -> Poll<F::Output> {
        self.0.since.store(read_thread_nanoseconds().max(1), Ordering::Relaxed);
        let polled = future.poll(context);
        let spent = u64::try_from(self.read_spent().as_nanos()).unwrap_or(u64::MAX);
        self.0.since.store(0, Ordering::Relaxed);
        self.0.before.store(spent, Ordering::Relaxed);
        polled
    }
}

/// CPU time of this thread. It is zero on a system without such a clock; Linux has one.
fn read_thread_nanoseconds() -> u64 {
    let now = clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID).map(Duration::from);
    now.map_or(0, |now| u64::try_from(now.as_nanos()).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use tokio::time::Instant;

    use super::*;

    #[tokio::test]
    async fn computing_is_counted_and_waiting_is_not() {
        const WAIT: Duration = Duration::from_millis(50);
        let (cpu, began) = (Cpu::default(), Instant::now());
        cpu.measure(async {
            tokio::time::sleep(WAIT).await;
            while cpu.read_milliseconds() < 60 {
                std::hint::spin_loop();
            }
            tokio::time::sleep(WAIT).await;
        })
        .await;
        let spent = cpu.read_milliseconds();
        let at_most = began.elapsed() - 2 * WAIT;
        assert!(spent >= 60 && cpu.read_spent() <= at_most, "{:?} of {at_most:?}", cpu.read_spent());
        std::thread::sleep(Duration::from_millis(20));
        assert_eq!(cpu.read_milliseconds(), spent, "a pause costs nothing");
    }
}
