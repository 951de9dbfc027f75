//! The author's calls that wait for one another, and the innermost for the host: objects in which the engine keeps asynchronous
//! functions at an `await` (`js/src/vm/AsyncFunction.h`, `js/src/builtin/Promise.cpp`).
//!
//! An object that nothing refers to may still be in the memory. So a call counts only if the image waits for its result.

use std::collections::{BTreeMap, BTreeSet};

use super::memory::{Memory, compute_slot_address, tag};
use super::script::Script;

/// Asynchronous functions that are considered.
const FUNCTIONS_MAX: usize = 1_000;
/// Promises between a call and the one that awaits it.
const PROMISES_MAX: usize = 100;
/// The file of the image that waits for the tool's result.
const WAITING_FILE: &str = "shim/loop.js";

const FUNCTION_CLASS: &str = "AsyncFunctionGenerator";
const PROMISE_CLASS: &str = "Promise";
const REACTION_CLASS: &str = "PromiseReactionRecord";

/// Slots of an asynchronous function.
pub mod slot {
    pub const CALLEE: usize = 0;
    pub const STACK: usize = 3;
    /// The index of the `await`, or a larger number while the function runs.
    pub const RESUMPTION: usize = 4;
    pub const PROMISE: usize = 5;
    /// The field is one of a promise.
    pub const REACTION: usize = 1;
    /// The field is one of a reaction, and holds the promise that it settles.
    pub const DERIVED: usize = 0;
    pub const ON_FULFILLED: usize = 5;
    pub const FLAGS: usize = 9;
    /// The function that awaits, or the promise that is resolved, as the flags tell.
    pub const AWAITING: usize = 10;
}

const FLAG_RESOLVES: usize = 4;
const FLAG_AWAITS: usize = 8;

/// A call at an `await`.
pub struct WaitingCall<'m> {
    pub script: Script<'m>,
    pub offset: usize,
}

/// What waits for the result of a function.
#[derive(Clone, Copy)]
enum Waiting {
    Function(usize),
    Image,
}

/// The longest chain of calls that wait for one another, innermost first.
pub fn find_waiting_calls(memory: Memory<'_>) -> Vec<WaitingCall<'_>> {
    let functions = (0..memory.0.len()).step_by(8).filter(|object| is_function(memory, *object)).take(FUNCTIONS_MAX);
    let waiting: BTreeMap<usize, Waiting> =
        functions.filter_map(|function| Some((function, find_waiting(memory, function)?))).collect();
    let awaiting: BTreeSet<usize> = waiting.values().filter_map(Waiting::function).collect();
    let innermost = waiting.keys().filter(|function| !awaiting.contains(function));
    let longest = innermost.filter_map(|function| find_chain(&waiting, *function)).max_by_key(Vec::len);
    longest.unwrap_or_default().into_iter().filter_map(|function| read_call(memory, function)).collect()
}

/// The functions from this one to the outermost, if the image waits for that.
fn find_chain(waiting: &BTreeMap<usize, Waiting>, innermost: usize) -> Option<Vec<usize>> {
    let mut chain = vec![innermost];
    while chain.len() <= waiting.len() {
        match waiting.get(chain.last()?)? {
            Waiting::Function(function) => chain.push(*function),
            Waiting::Image => return Some(chain),
        }
    }
    None
}

/// Whether an asynchronous function at an `await` is at the address.
fn is_function(memory: Memory<'_>, object: usize) -> bool {
    let has_tag = |slot, tag| memory.read_word(compute_slot_address(object, slot) + 4) == Some(tag);
    has_tag(slot::PROMISE, tag::OBJECT)
        && has_tag(slot::RESUMPTION, tag::INTEGER)
        && has_tag(slot::STACK, tag::OBJECT)
        && has_tag(slot::CALLEE, tag::OBJECT)
        && memory.has_class(object, FUNCTION_CLASS)
}

/// What waits for the result of a function, if it is another function or the image.
fn find_waiting(memory: Memory<'_>, function: usize) -> Option<Waiting> {
    let mut promise = memory.read_slot_of(function, slot::PROMISE, tag::OBJECT)?;
    for _ in 0..PROMISES_MAX {
        let reaction = memory.read_slot_of(promise, slot::REACTION, tag::OBJECT)?;
        if !memory.has_class(promise, PROMISE_CLASS) || !memory.has_class(reaction, REACTION_CLASS) {
            return None;
        }
        let flags = memory.read_slot_of(reaction, slot::FLAGS, tag::INTEGER)?;
        let awaiting = memory.read_slot_of(reaction, slot::AWAITING, tag::OBJECT);
        if flags & FLAG_AWAITS != 0 {
            return awaiting.filter(|function| is_function(memory, *function)).map(Waiting::Function);
        }
        if flags & FLAG_RESOLVES != 0 {
            promise = awaiting?;
        } else if is_waiting_image(memory, reaction) {
            return Some(Waiting::Image);
        } else {
            promise = memory.read_slot_of(reaction, slot::DERIVED, tag::OBJECT)?;
        }
    }
    None
}

impl Waiting {
    const fn function(&self) -> Option<usize> {
        match self {
            Self::Function(function) => Some(*function),
            Self::Image => None,
        }
    }
}

/// Whether a function of the image's is called with the result.
fn is_waiting_image(memory: Memory<'_>, reaction: usize) -> bool {
    let function = memory.read_slot_of(reaction, slot::ON_FULFILLED, tag::OBJECT);
    let script = function.and_then(|function| Script::of_function(memory, function));
    script.and_then(|script| script.is_file(WAITING_FILE)) == Some(true)
}

fn read_call(memory: Memory<'_>, function: usize) -> Option<WaitingCall<'_>> {
    let script = Script::of_function(memory, memory.read_slot_of(function, slot::CALLEE, tag::OBJECT)?)?;
    let offset = script.read_offset_of_resumption(memory.read_slot_of(function, slot::RESUMPTION, tag::INTEGER)?)?;
    Some(WaitingCall { script, offset })
}
