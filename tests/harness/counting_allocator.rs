//! The bytes that a thread has allocated. The program that has this module counts the allocations of all its code.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

/// Counts the bytes of the allocations of each thread that are not freed, each as large as the classes of jemalloc are at least.
struct Counting;

thread_local! {
    static BYTES: Cell<isize> = const { Cell::new(0) };
}

fn count(bytes: usize, sign: isize) {
    let bytes = isize::try_from(bytes.next_multiple_of(16)).unwrap_or(isize::MAX);
    // A thread that ends frees after its counter is gone.
    let _ = BYTES.try_with(|counter| counter.set(counter.get() + sign * bytes));
}

// SAFETY: all calls are passed on to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size(), 1);
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        count(layout.size(), -1);
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Makes a value, and returns it with the bytes that it holds.
pub fn measure<T>(make: impl FnOnce() -> T) -> (T, usize) {
    let before = BYTES.get();
    let made = make();
    (made, usize::try_from(BYTES.get() - before).expect("more is allocated than before"))
}
