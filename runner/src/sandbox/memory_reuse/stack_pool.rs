//! Pool of fiber stacks. Wasmtime's pooling allocator keeps stacks in the same way, for its own instances.

use std::io;
use std::ops::Range;
use std::sync::Arc;

use parking_lot::Mutex;
use wasmtime::{StackCreator, StackMemory};

use super::reservation::Reservation;
use crate::sandbox::engine::STACK_BYTES_KEPT;

/// Inaccessible bytes below a stack. The engine's own pool has a page; this is at least a page of any machine.
const GUARD_BYTES: usize = 64 << 10;
/// Stacks kept for later runs.
const IDLE_MAX: usize = 16;

/// Creates stacks, and keeps those of finished runs. Clones share the stacks.
#[derive(Clone, Default)]
pub struct StackPool(Arc<Mutex<Vec<Reservation>>>);

impl StackPool {
    fn take(&self, bytes: usize) -> Option<Reservation> {
        self.0.lock().pop().filter(|stack| stack.bytes() == GUARD_BYTES + bytes)
    }

    fn put(&self, stack: Reservation) {
        let mut idle = self.0.lock();
        if idle.len() < IDLE_MAX {
            idle.push(stack);
        }
    }
}

// SAFETY: a stack is the only owner of its addresses, which are whole pages, zeroed, with a guard below.
unsafe impl StackCreator for StackPool {
    fn new_stack(&self, bytes: usize, _zeroed: bool) -> wasmtime::Result<Box<dyn StackMemory>> {
        let reservation = match self.take(bytes) {
            Some(reservation) => reservation,
            None => new(bytes)?,
        };
        Ok(Box::new(Stack { reservation: Some(reservation), pool: self.clone() }))
    }
}

fn new(bytes: usize) -> io::Result<Reservation> {
    let mut reservation = Reservation::new(GUARD_BYTES.saturating_add(bytes))?;
    reservation.open(GUARD_BYTES..GUARD_BYTES.saturating_add(bytes))?;
    Ok(reservation)
}

/// Stack of a run. It is zeroed on drop, so that no run finds bytes of another.
struct Stack {
    reservation: Option<Reservation>,
    pool: StackPool,
}

impl Stack {
    fn address(&self, offset: impl FnOnce(&Reservation) -> usize) -> *mut u8 {
        self.reservation.as_ref().map_or(std::ptr::null_mut(), |stack| stack.at(offset(stack)))
    }
}

// SAFETY: as for the creator; the addresses stay valid until the stack is dropped.
unsafe impl StackMemory for Stack {
    fn top(&self) -> *mut u8 {
        self.address(Reservation::bytes)
    }

    fn range(&self) -> Range<usize> {
        self.address(|_| GUARD_BYTES).addr()..self.top().addr()
    }

    fn guard_range(&self) -> Range<*mut u8> {
        self.address(|_| 0)..self.address(|_| GUARD_BYTES)
    }
}

impl Drop for Stack {
    fn drop(&mut self) {
        let Some(mut stack) = self.reservation.take() else { return };
        let kept = stack.bytes().saturating_sub(STACK_BYTES_KEPT).max(GUARD_BYTES)..stack.bytes();
        // SAFETY: everything above the guard is open, and the engine drops a stack when nothing runs on it.
        unsafe { stack.zero(kept.clone()) };
        // A stack that cannot be discarded is unmapped as a whole.
        if stack.discard(GUARD_BYTES..kept.start).is_ok() {
            self.pool.put(stack);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BYTES: usize = 256 << 10;

    #[test]
    fn a_reused_stack_is_zeroed() {
        let pool = StackPool::default();
        let mut tops = Vec::new();
        for _ in 0..3 {
            let stack = pool.new_stack(BYTES, true).unwrap();
            let range = stack.range();
            assert_eq!((range.len(), range.end), (BYTES, stack.top().addr()));
            assert_eq!(stack.guard_range().end.addr(), range.start);
            let start = stack.top().wrapping_sub(BYTES);
            // SAFETY: the stack is the only owner of these bytes, which are open.
            let bytes = unsafe { std::slice::from_raw_parts_mut(start, BYTES) };
            assert!(bytes.iter().all(|byte| *byte == 0));
            bytes.fill(7);
            tops.push(stack.top());
        }
        assert!(tops.iter().all(|top| *top == tops[0]), "the same stack is reused");
    }

    #[test]
    fn stacks_in_use_are_distinct_and_few_are_kept() {
        let pool = StackPool::default();
        let all: Vec<_> = (0..=IDLE_MAX).map(|_| pool.new_stack(BYTES, true).unwrap()).collect();
        let tops: std::collections::BTreeSet<_> = all.iter().map(|stack| stack.top()).collect();
        assert_eq!(tops.len(), IDLE_MAX + 1);
        drop(all);
        assert_eq!(pool.0.lock().len(), IDLE_MAX);
        assert_eq!(pool.new_stack(2 * BYTES, true).unwrap().range().len(), 2 * BYTES, "a stack of another size is new");
    }
}
