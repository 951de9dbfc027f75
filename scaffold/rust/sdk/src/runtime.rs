//! The runtime functions that the generated bindings call: memory that the host fills and the tool frees.

use std::alloc::{self, Layout};

/// Memory that is freed on drop. The bindings always forget it, since results are freed after the host has read them.
pub struct Cleanup {
    memory: *mut u8,
    layout: Layout,
}

impl Cleanup {
    pub fn new(layout: Layout) -> (*mut u8, Option<Self>) {
        if layout.size() == 0 {
            return (std::ptr::null_mut(), None);
        }
        // SAFETY: the size of the layout is not zero.
        let memory = unsafe { alloc::alloc(layout) };
        if memory.is_null() {
            alloc::handle_alloc_error(layout);
        }
        (memory, Some(Self { memory, layout }))
    }

    pub fn forget(self) {
        std::mem::forget(self);
    }
}

impl Drop for Cleanup {
    fn drop(&mut self) {
        // SAFETY: it was allocated with this layout.
        unsafe { alloc::dealloc(self.memory, self.layout) }
    }
}

/// Keeps [`cabi_realloc`] in every tool, because the bindings call this function.
pub fn maybe_link_cabi_realloc() {
    #[cfg(target_family = "wasm")]
    {
        #[used]
        static REALLOC: unsafe extern "C" fn(*mut u8, usize, usize, usize) -> *mut u8 = cabi_realloc;
    }
}

/// Allocates memory for values that the host passes to the tool.
///
/// # Safety
/// As `realloc`; without an old block both its address and its length are 0.
#[cfg(target_family = "wasm")]
#[unsafe(no_mangle)]
unsafe extern "C" fn cabi_realloc(old: *mut u8, old_bytes: usize, align: usize, bytes: usize) -> *mut u8 {
    if bytes == 0 {
        return std::ptr::without_provenance_mut(align);
    }
    // SAFETY: the canonical ABI passes powers of two, and sizes that fit into memory.
    unsafe {
        let memory = match old_bytes {
            0 => alloc::alloc(Layout::from_size_align_unchecked(bytes, align)),
            _ => alloc::realloc(old, Layout::from_size_align_unchecked(old_bytes, align), bytes),
        };
        if memory.is_null() {
            alloc::handle_alloc_error(Layout::from_size_align_unchecked(bytes, align));
        }
        memory
    }
}
