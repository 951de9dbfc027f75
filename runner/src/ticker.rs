//! Advances the engines' epochs once a millisecond while something runs.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, Thread};
use std::time::Duration;

use wasmtime::{Engine, EngineWeak};

/// The grain of CPU accounting and of yielding between runs.
pub const TICK: Duration = Duration::from_millis(1);

/// So long the thread goes on when nothing runs any more: to wake it for each of many short runs would cost them more than
/// its ticks do.
const IDLE_TICKS_MAX: u32 = 16;

/// Sleeps when nothing has run for a while, so that an idle server wakes no core.
#[derive(Clone)]
pub struct Ticker {
    running: Arc<AtomicUsize>,
    engines: Arc<Mutex<Vec<EngineWeak>>>,
    thread: Thread,
}

impl Ticker {
    /// Starts the thread; it ends when nobody has the ticker any more.
    ///
    /// # Errors
    /// When the system has no thread to give.
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
                    // Who has just woken it has a tick before it gives way.
                    thread::sleep(TICK);
                    tick(&ticked);
                }
            }
        })?;
        Ok(Self { running, engines, thread: handle.thread().clone() })
    }

    /// Ticks for another engine, too, as long as somebody has it.
    pub fn add(&self, engine: &Engine) {
        self.engines.lock().unwrap_or_else(PoisonError::into_inner).push(engine.weak());
    }

    /// Ticks for as long as the guard lives.
    pub fn run(&self) -> Running<'_> {
        if self.running.fetch_add(1, Ordering::SeqCst) == 0 {
            self.thread.unpark();
        }
        Running(self)
    }
}

/// Advances the epochs of those engines that somebody still has.
fn tick(engines: &Mutex<Vec<EngineWeak>>) {
    let advance = |engine: &EngineWeak| engine.upgrade().map(|engine| engine.increment_epoch()).is_some();
    engines.lock().unwrap_or_else(PoisonError::into_inner).retain(advance);
}

pub struct Running<'a>(&'a Ticker);

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.0.running.fetch_sub(1, Ordering::SeqCst);
    }
}
