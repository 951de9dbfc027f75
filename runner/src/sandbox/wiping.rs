//! An allocator that overwrites freed memory, so that no secret of a run stays in the heap of a runner or of the server.
//!
//! On its way to a guest, a secret passes through buffers of many libraries: frames, JSON, headers, tables of handles. Wiping each
//! buffer where it is used would miss those of libraries, and the copies that growing buffers leave. The allocator sees all.

use std::alloc::{GlobalAlloc, Layout};
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether this process overwrites freed memory. Processes without secrets of runs do not spend the time.
static WIPES: AtomicBool = AtomicBool::new(false);

/// Makes this process overwrite all memory of its heap that it frees from now on.
pub fn wipe_freed_memory() {
    WIPES.store(true, Ordering::Relaxed);
}

/// Overwrites bytes, in a way that the compiler does not remove.
pub(crate) fn wipe(bytes: &mut [u8]) {
    bytes.fill(0);
    zeroize::optimization_barrier(bytes);
}

/// An allocator over another one, which overwrites memory before it frees it, in processes that called
/// [`wipe_freed_memory`].
#[derive(Debug)]
pub struct WipingAllocator<A>(A);

impl<A> WipingAllocator<A> {
    pub const fn over(allocator: A) -> Self {
        Self(allocator)
    }
}

// SAFETY: memory comes from the inner allocator and is freed by it with the same layout. It is written only while it is
// allocated, within its layout.
unsafe impl<A: GlobalAlloc> GlobalAlloc for WipingAllocator<A> {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promise.
        unsafe { self.0.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promise.
        unsafe { self.0.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        if WIPES.load(Ordering::Relaxed) {
            // SAFETY: the caller frees memory of this layout, to which there is no other reference.
            unsafe {
                memory.write_bytes(0, layout.size());
                zeroize::optimization_barrier(&*memory);
            }
        }
        // SAFETY: the caller's promise.
        unsafe { self.0.dealloc(memory, layout) }
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, bytes: usize) -> *mut u8 {
        if !WIPES.load(Ordering::Relaxed) {
            // SAFETY: the caller's promise.
            return unsafe { self.0.realloc(memory, layout, bytes) };
        }
        // SAFETY: the caller promises a size that fits the layout's alignment; both pieces have the bytes that are copied.
        unsafe {
            let moved = self.alloc(Layout::from_size_align_unchecked(bytes, layout.align()));
            if !moved.is_null() {
                moved.copy_from_nonoverlapping(memory, layout.size().min(bytes));
                self.dealloc(memory, layout);
            }
            moved
        }
    }
}

#[cfg(test)]
mod tests {
    use std::alloc::System;
    use std::sync::atomic::AtomicUsize;

    use super::*;

    /// Counts freed memory that is not zero.
    #[derive(Default)]
    struct Inspector {
        freed: AtomicUsize,
        dirty: AtomicUsize,
    }

    // SAFETY: this is the system's allocator; memory is inspected before it is freed.
    unsafe impl GlobalAlloc for Inspector {
        unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
            // SAFETY: the caller's promise.
            unsafe { System.alloc(layout) }
        }

        unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
            // SAFETY: the memory is still allocated, and was written to.
            let bytes = unsafe { std::slice::from_raw_parts(memory, layout.size()) };
            self.freed.fetch_add(1, Ordering::Relaxed);
            self.dirty.fetch_add(usize::from(bytes.iter().any(|byte| *byte != 0)), Ordering::Relaxed);
            // SAFETY: the caller's promise.
            unsafe { System.dealloc(memory, layout) }
        }
    }

    #[test]
    fn freed_memory_is_zero_and_resized_memory_keeps_its_bytes() {
        wipe_freed_memory();
        let allocator = WipingAllocator::over(Inspector::default());
        let layout = Layout::from_size_align(100, 16).unwrap();
        let grown = Layout::from_size_align(5_000, 16).unwrap();
        // SAFETY: sizes and layouts are those of the calls before.
        unsafe {
            let memory = allocator.alloc(layout);
            memory.write_bytes(7, 100);
            let memory = allocator.realloc(memory, layout, 5_000);
            assert!((0..100).all(|at| *memory.add(at) == 7));
            memory.write_bytes(8, 5_000);
            let memory = allocator.realloc(memory, grown, 50);
            assert!((0..50).all(|at| *memory.add(at) == 8));
            allocator.dealloc(memory, Layout::from_size_align(50, 16).unwrap());
        }
        let Inspector { freed, dirty } = &allocator.0;
        assert_eq!((freed.load(Ordering::Relaxed), dirty.load(Ordering::Relaxed)), (3, 0));
    }
}
