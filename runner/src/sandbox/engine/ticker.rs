//! Advances the epochs of all engines once a millisecond while guests run.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{self, Thread};
use std::time::Duration;

use parking_lot::Mutex;
use wasmtime::{Engine, EngineWeak};

/// Granularity of CPU accounting, and of yields between runs.
pub const TICK: Duration = Duration::from_millis(1);

/// Ticks after the last run until the thread sleeps. Waking it for each of many short runs would cost more than these ticks.
const IDLE_TICKS_MAX: u32 = 16;

/// A ticking thread. It sleeps when nothing has run for a while, so that an idle server wakes no core.
#[derive(Clone)]
pub struct Ticker {
    running: Arc<AtomicUsize>,
    engines: Arc<Mutex<Vec<EngineWeak>>>,
    thread: Thread,
}

impl Ticker {
    /// Starts the thread, which ends when the last clone of the ticker is dropped.
    ///
    /// # Errors
    /// When the system has no thread for it.
    pub fn start(engine: &Engine) -> std::io::Result<Self> {
        let running = Arc::new(AtomicUsize::new(0));
        let engines = Arc::new(Mutex::new(vec![engine.weak()]));
        let (counter, ticked) = (Arc::downgrade(&running), engines.clone());
        let handle = thread::Builder::new().name("epoch".into()).spawn(move || {
            let mut idle_ticks = 0;
            while let Some(count) = counter.upgrade() {
                idle_ticks = if count.load(Ordering::SeqCst) == 0 { idle_ticks + 1 } else { 0 };
                drop(count);
                if idle_ticks > IDLE_TICKS_MAX {
                    idle_ticks = IDLE_TICKS_MAX;
                    thread::park_timeout(Duration::from_secs(1));
                } else {
                    // The run that woke this thread computes for a tick before it yields.
                    thread::sleep(TICK);
                    tick(&ticked);
                }
            }
        })?;
        Ok(Self { running, engines, thread: handle.thread().clone() })
    }

    /// Adds an engine, which ticks until it is dropped.
    pub fn add(&self, engine: &Engine) {
        self.engines.lock().push(engine.weak());
    }

    /// Keeps the ticker going while the guard lives.
    pub fn run(&self) -> Running<'_> {
        if self.running.fetch_add(1, Ordering::SeqCst) == 0 {
            self.thread.unpark();
        }
        Running(self)
    }
}

/// Advances the epochs of the engines that still exist, and forgets the others.
fn tick(engines: &Mutex<Vec<EngineWeak>>) {
    let advance = |engine: &EngineWeak| engine.upgrade().map(|engine| engine.increment_epoch()).is_some();
    engines.lock().retain(advance);
}

pub struct Running<'a>(&'a Ticker);

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.0.running.fetch_sub(1, Ordering::SeqCst);
    }
}
