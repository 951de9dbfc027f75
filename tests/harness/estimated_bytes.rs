//! Comparing the estimate of the bytes of a value with those that the allocator gave out.

use registry::HeapBytes;

use crate::counting_allocator::measure;

/// Fails when an estimate is below the truth, or above three times of it.
#[track_caller]
pub fn check<T: HeapBytes>(what: &str, make: impl FnOnce() -> T) {
    let (made, bytes) = measure(make);
    let estimate = made.heap_bytes();
    assert!(estimate >= bytes, "{what}: {estimate} bytes are estimated, {bytes} are allocated");
    assert!(estimate <= 3 * bytes + 1024, "{what}: {estimate} bytes are estimated, only {bytes} are allocated");
}
