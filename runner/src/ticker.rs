//! Advances the engine's epoch once a millisecond while something runs.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{self, Thread};
use std::time::Duration;

use wasmtime::Engine;

/// The grain of CPU accounting and of yielding between runs.
pub const TICK: Duration = Duration::from_millis(1);

/// Sleeps while nothing runs, so that an idle server wakes no core.
#[derive(Debug, Clone)]
pub struct Ticker {
    running: Arc<AtomicUsize>,
    thread: Thread,
}

impl Ticker {
    /// Starts the thread; it ends when the engine is dropped elsewhere.
    ///
    /// # Errors
    /// When the system has no thread to give.
    pub fn start(engine: &Engine) -> std::io::Result<Self> {
        let running = Arc::new(AtomicUsize::new(0));
        let (counter, engine) = (Arc::downgrade(&running), engine.weak());
        let handle = thread::Builder::new().name("epoch".into()).spawn(move || {
            while let (Some(count), Some(engine)) = (counter.upgrade(), engine.upgrade()) {
                if count.load(Ordering::SeqCst) == 0 {
                    drop((count, engine));
                    thread::park_timeout(Duration::from_secs(1));
                } else {
                    engine.increment_epoch();
                    drop((count, engine));
                    thread::sleep(TICK);
                }
            }
        })?;
        Ok(Self { running, thread: handle.thread().clone() })
    }

    /// Ticks for as long as the guard lives.
    pub fn run(&self) -> Running<'_> {
        if self.running.fetch_add(1, Ordering::SeqCst) == 0 {
            self.thread.unpark();
        }
        Running(self)
    }
}

#[derive(Debug)]
pub struct Running<'a>(&'a Ticker);

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.0.running.fetch_sub(1, Ordering::SeqCst);
    }
}
