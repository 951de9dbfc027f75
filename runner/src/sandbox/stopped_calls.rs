//! The author's calls in which the host stopped an interpreter, read from its memory.
//!
//! The memory is a guest's: each address in it is checked, and each loop has a bound. A memory that is not as the engine leaves it
//! has no calls.

mod javascript;
mod position;
mod python;

pub use javascript::{ScriptCalls, is_out_of_memory};
pub use position::Position;

/// The calls as lines of a stack trace, in the order of the tool's language. Empty if the interpreter was in no call of the author's.
pub fn read_stack_trace(memory: &[u8], bundle: &[u8]) -> Vec<String> {
    let lines = python::read_stack_trace(memory);
    if lines.is_empty() { ScriptCalls::read(memory).read_stack_trace(bundle) } else { lines }
}

/// The innermost call in the project's own files.
pub fn read_innermost(memory: &[u8], bundle: &[u8]) -> Option<Position> {
    python::find_innermost(memory).or_else(|| ScriptCalls::read(memory).find_innermost(bundle))
}
