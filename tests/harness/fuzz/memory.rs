//! Measures the memory and the computing time of a thread.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::time::Duration;

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike;

struct Counting;

#[global_allocator]
static COUNTING: Counting = Counting;

thread_local! {
    /// The bytes that this thread has allocated and not freed, and their peak.
    static LIVE: Cell<(isize, isize)> = const { Cell::new((0, 0)) };
    /// All bytes that this thread has allocated.
    static TOTAL: Cell<usize> = const { Cell::new(0) };
}

/// The cost of some work.
#[derive(Debug)]
pub struct Cost {
    /// Bytes in use at a time.
    pub peak: usize,
    /// Bytes that were allocated one after the other. Unlike time they are the same on every machine.
    pub total: usize,
    pub cpu: Duration,
}

fn count(bytes: isize) {
    if let Ok(bytes) = usize::try_from(bytes) {
        let _ = TOTAL.try_with(|total| total.set(total.get().saturating_add(bytes)));
    }
    // An ending thread may free memory after its counters are destroyed.
    let _ = LIVE.try_with(|live| {
        let now = live.get().0.saturating_add(bytes);
        live.set((now, live.get().1.max(now)));
    });
}

fn signed(bytes: usize) -> isize {
    isize::try_from(bytes).unwrap_or(isize::MAX)
}

// SAFETY: every call is passed on to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(signed(layout.size()));
        // SAFETY: see above.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        count(-signed(layout.size()));
        // SAFETY: see above.
        unsafe { System.dealloc(pointer, layout) }
    }
}

/// The result of the work, and its cost.
pub fn cost_of<T>(work: impl FnOnce() -> T) -> (T, Cost) {
    LIVE.set((0, 0));
    TOTAL.set(0);
    let before = cpu();
    let made = work();
    let cpu = cpu().saturating_sub(before);
    (made, Cost { peak: usize::try_from(LIVE.get().1).unwrap_or(0), total: TOTAL.get(), cpu })
}

/// The computing time of this thread so far.
fn cpu() -> Duration {
    let usage = getrusage(UsageWho::RUSAGE_THREAD).expect("the usage of this thread");
    let microseconds = (usage.user_time() + usage.system_time()).num_microseconds();
    Duration::from_micros(u64::try_from(microseconds).unwrap_or(0))
}
