//! Computing whose cost grows with an input of a client: it leaves the threads that serve requests, unless the input is small.

use std::sync::LazyLock;
use std::thread::available_parallelism;

use tokio::sync::Semaphore;
use tokio::task::{JoinError, spawn_blocking};

/// Bytes up to which work is done at once: a fraction of a millisecond of parsing.
const SMALL_BYTES_MAX: usize = 32 << 10;
/// Pieces of work at a time. Each may have a parsed document of eighty times the bytes of its text, and more of them than cores would only
/// hold memory.
const PARALLEL_MAX: usize = 4;

static PERMITS: LazyLock<Semaphore> = LazyLock::new(|| {
    let cores = available_parallelism().map_or(1, usize::from);
    Semaphore::new(cores.min(PARALLEL_MAX))
});

/// Does work on an input of `bytes`: at once, or on another thread when it is its turn.
///
/// # Errors
/// When the process ends, or the work panicked.
pub async fn do_heavy_work<T: Send + 'static>(
    bytes: usize,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, JoinError> {
    if bytes <= SMALL_BYTES_MAX {
        return Ok(work());
    }
    // Nobody closes the semaphore.
    let permit = PERMITS.acquire().await.ok();
    let done = spawn_blocking(move || {
        let _permit = permit;
        work()
    });
    done.await
}

#[cfg(test)]
mod tests {
    use std::thread::current;

    use super::*;

    #[tokio::test]
    async fn only_small_work_is_done_on_the_thread_of_a_request() {
        let own = current().id();
        let is_own = move || current().id() == own;
        assert!(do_heavy_work(SMALL_BYTES_MAX, is_own).await.unwrap());
        assert!(!do_heavy_work(SMALL_BYTES_MAX + 1, is_own).await.unwrap());
    }

    #[tokio::test]
    async fn work_that_panics_returns_its_permit() {
        for _ in 0..PARALLEL_MAX * 2 {
            assert!(do_heavy_work(usize::MAX, || panic!("on purpose")).await.is_err());
        }
        assert_eq!(do_heavy_work(usize::MAX, || 1).await.unwrap(), 1);
    }
}
