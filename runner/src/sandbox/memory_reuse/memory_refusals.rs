//! The author's calls in which an interpreter was last refused memory.
//!
//! The JavaScript engine throws a text without a stack then, which the tool's code may catch. So the memory itself refuses, in
//! place of the limiter, and is read at this instant.

use std::sync::Arc;

use parking_lot::Mutex;

use super::slot_allocator::SlotAllocator;
use crate::sandbox::engine::RefuseGrowth;
use crate::sandbox::stopped_calls::ScriptCalls;

/// The calls of one run. Clones share them.
#[derive(Clone)]
pub struct MemoryRefusals {
    memories: SlotAllocator,
    calls: Arc<Mutex<ScriptCalls>>,
}

impl MemoryRefusals {
    pub fn new(memories: SlotAllocator) -> Self {
        Self { memories, calls: Arc::default() }
    }

    /// The calls as lines of a stack trace.
    pub fn read_stack_trace(&self, bundle: &[u8]) -> Vec<String> {
        self.calls.lock().read_stack_trace(bundle)
    }
}

impl RefuseGrowth for MemoryRefusals {
    /// All runs are on one thread, so the memory that grows next is that of this run.
    fn refuse(&self) {
        let calls = self.calls.clone();
        self.memories.refuse_next(move |memory| *calls.lock() = ScriptCalls::read_running(memory));
    }

    fn end(&self) {
        self.memories.refuse_none();
    }
}
