//! Stacks of runs, kept from one run to the next as the engine's pool keeps its own.

use std::io;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use wasmtime::{StackCreator, StackMemory};

use super::area::Area;

/// What cannot be reached below a stack: the engine's own is a page; this is one of any machine.
const GUARD_BYTES: usize = 64 << 10;
/// What is zeroed of a stack after a run, rather than given back and faulted in again by the next.
pub const STACK_BYTES_KEPT: usize = 32 << 10;
/// Stacks that wait for the next run.
const IDLE_MAX: usize = 16;

/// Makes stacks, and keeps those that a run has left. Clones are one.
#[derive(Clone, Default)]
pub struct Stacks(Arc<Mutex<Vec<Area>>>);

impl Stacks {
    fn take(&self, bytes: usize) -> Option<Area> {
        let mut idle = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        idle.pop().filter(|area| area.bytes() == GUARD_BYTES + bytes)
    }

    fn put(&self, area: Area) {
        let mut idle = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if idle.len() < IDLE_MAX {
            idle.push(area);
        }
    }
}

// SAFETY: a stack has its addresses to itself, of whole pages, zeroed, with a guard below.
unsafe impl StackCreator for Stacks {
    fn new_stack(&self, bytes: usize, _zeroed: bool) -> wasmtime::Result<Box<dyn StackMemory>> {
        let area = match self.take(bytes) {
            Some(area) => area,
            None => new(bytes)?,
        };
        Ok(Box::new(Stack { area: Some(area), stacks: self.clone() }))
    }
}

fn new(bytes: usize) -> io::Result<Area> {
    let mut area = Area::reserve(GUARD_BYTES.saturating_add(bytes))?;
    area.open(GUARD_BYTES..GUARD_BYTES.saturating_add(bytes))?;
    Ok(area)
}

/// The stack of a run. It is zeroed when the run has left it, so that nothing of it is there for another.
struct Stack {
    area: Option<Area>,
    stacks: Stacks,
}

impl Stack {
    fn address(&self, offset: impl FnOnce(&Area) -> usize) -> *mut u8 {
        self.area.as_ref().map_or(std::ptr::null_mut(), |area| area.at(offset(area)))
    }
}

// SAFETY: as for the creator; it is there until it is dropped.
unsafe impl StackMemory for Stack {
    fn top(&self) -> *mut u8 {
        self.address(Area::bytes)
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
        let Some(mut area) = self.area.take() else { return };
        let kept = area.bytes().saturating_sub(STACK_BYTES_KEPT).max(GUARD_BYTES)..area.bytes();
        // SAFETY: all above the guard is open, and the engine drops a stack when nothing runs on it.
        unsafe { area.zero(kept.clone()) };
        // One that cannot be emptied is given back as a whole.
        if area.discard(GUARD_BYTES..kept.start).is_ok() {
            self.stacks.put(area);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BYTES: usize = 256 << 10;

    #[test]
    fn a_stack_is_zero_whatever_was_on_it_before() {
        let stacks = Stacks::default();
        let mut tops = Vec::new();
        for _ in 0..3 {
            let stack = stacks.new_stack(BYTES, true).unwrap();
            let range = stack.range();
            assert_eq!((range.len(), range.end), (BYTES, stack.top().addr()));
            assert_eq!(stack.guard_range().end.addr(), range.start);
            let start = stack.top().wrapping_sub(BYTES);
            // SAFETY: it is nobody else's, and open.
            let bytes = unsafe { std::slice::from_raw_parts_mut(start, BYTES) };
            assert!(bytes.iter().all(|byte| *byte == 0));
            bytes.fill(7);
            tops.push(stack.top());
        }
        assert!(tops.iter().all(|top| *top == tops[0]), "it is the same one");
    }

    #[test]
    fn stacks_in_use_are_apart_and_few_are_kept() {
        let stacks = Stacks::default();
        let all: Vec<_> = (0..=IDLE_MAX).map(|_| stacks.new_stack(BYTES, true).unwrap()).collect();
        let tops: std::collections::BTreeSet<_> = all.iter().map(|stack| stack.top()).collect();
        assert_eq!(tops.len(), IDLE_MAX + 1);
        drop(all);
        assert_eq!(stacks.0.lock().unwrap().len(), IDLE_MAX);
        assert_eq!(
            stacks.new_stack(2 * BYTES, true).unwrap().range().len(),
            2 * BYTES,
            "another size is another stack"
        );
    }
}
