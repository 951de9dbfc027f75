//! Measures the memory of a thread.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

struct Counting;

#[global_allocator]
static COUNTING: Counting = Counting;

thread_local! {
    /// The bytes that this thread has allocated and not freed, and their peak.
    static LIVE: Cell<(isize, isize)> = const { Cell::new((0, 0)) };
}

fn count(bytes: isize) {
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

/// The result of the work, and its peak memory in bytes.
pub fn peak_of<T>(work: impl FnOnce() -> T) -> (T, usize) {
    LIVE.set((0, 0));
    let made = work();
    (made, usize::try_from(LIVE.get().1).unwrap_or(0))
}
