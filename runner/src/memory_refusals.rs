//! The author's calls in which an interpreter was last refused memory.
//!
//! The JavaScript engine throws a text without a stack then, which the tool's code may catch. So the memory itself refuses, in
//! place of the limiter, and is read at this instant.

use std::sync::Arc;

use parking_lot::Mutex;

use crate::memory_reuse::SlotAllocator;
use crate::stopped_calls::ScriptCalls;

/// The calls of one run.
pub struct MemoryRefusals {
    memories: SlotAllocator,
    calls: Arc<Mutex<ScriptCalls>>,
}

impl MemoryRefusals {
    pub fn new(memories: SlotAllocator) -> Self {
        Self { memories, calls: Arc::default() }
    }

    /// Makes the memory refuse the growth that the limiter is asked for. All runs are on one thread, so the memory that grows next
    /// is that of this run.
    pub fn refuse(&self) {
        let calls = self.calls.clone();
        self.memories.refuse_next(move |memory| *calls.lock() = ScriptCalls::read_running(memory));
    }

    /// Takes note that the growth failed, whoever refused it.
    pub fn end(&self) {
        self.memories.refuse_none();
    }

    /// The calls as lines of a stack trace.
    pub fn stack_trace(&self, bundle: &[u8]) -> Vec<String> {
        self.calls.lock().stack_trace(bundle)
    }
}
