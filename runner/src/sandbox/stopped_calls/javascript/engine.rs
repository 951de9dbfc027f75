//! The calls in the memory of SpiderMonkey, in the release of the package that makes the image.
//!
//! The offsets are those of this release with addresses of 32 bits (`js/src/vm/Activation.h`, `Stack.h`, `SavedFrame.h`). What is read
//! is compared with what else the engine keeps: an object has a class, whose name is known; a script and its function have
//! each other's address; an instruction lies in its script. So the memory of another release has no calls rather than false
//! ones.

use super::memory::{Memory, tag};
use super::notes::Place;
use super::script::{BUNDLE, Script};
use super::waiting::find_waiting_calls;

/// The variable with the address of the thread's context (`js::TlsContext`).
const CONTEXT: usize = 0x0024_85d4;
/// Calls, activations and saved frames that are followed. The engine's stack has room for fewer.
const STEPS_MAX: usize = 50_000;
/// Bytes of source notes that are read for all calls together.
const NOTES_BYTES_MAX: usize = 8 << 20;
/// The cause of an asynchronous call after an `await`.
const AWAIT: &str = "async";

const CONTEXT_ACTIVATION: usize = 0x84;

/// Offsets in an activation: the calls of one execution of the interpreter.
mod activation {
    pub const CONTEXT: usize = 0x00;
    pub const PREVIOUS: usize = 0x08;
    pub const ASYNC_STACK: usize = 0x2c;
    pub const ASYNC_CAUSE: usize = 0x30;
    /// Whether it is that of a compiler, which the image does not have.
    pub const KIND: usize = 0x35;
    pub const INSTRUCTION: usize = 0x40;
    pub const FRAME: usize = 0x44;
}

/// Offsets in the frame of a call.
mod frame {
    pub const SCRIPT: usize = 0x08;
    pub const PREVIOUS: usize = 0x1c;
    pub const PREVIOUS_INSTRUCTION: usize = 0x20;
}

/// Slots of a saved frame.
mod saved {
    pub const SOURCE: usize = 0;
    pub const LINE: usize = 2;
    pub const COLUMN: usize = 3;
    pub const FUNCTION: usize = 4;
    pub const CAUSE: usize = 5;
    pub const PARENT: usize = 6;
}

/// A call of a function in the bundle's script, with its position there.
#[derive(Debug, PartialEq, Eq)]
pub struct Call {
    pub function: String,
    /// The call awaits the one before it.
    pub is_async: bool,
    pub line: u32,
    pub column: u32,
}

/// The memory of an engine.
pub struct Engine<'m> {
    memory: Memory<'m>,
    context: usize,
}

impl<'m> Engine<'m> {
    pub fn find(memory: &'m [u8]) -> Option<Self> {
        let memory = Memory(memory);
        let context = memory.read_address(CONTEXT)?;
        Some(Self { memory, context })
    }

    /// The innermost calls that the engine is in, innermost first.
    pub fn read_calls(&self, calls_max: usize) -> Vec<Call> {
        let mut calls = Calls::new(calls_max);
        // `None` where memory is not as it should be: the calls before are true.
        let _: Option<()> = self.read_activations(&mut calls);
        calls.list
    }

    /// The calls that wait for the host, innermost first.
    pub fn read_waiting_calls(&self, calls_max: usize) -> Vec<Call> {
        let mut calls = Calls::new(calls_max);
        for waiting in find_waiting_calls(self.memory) {
            let is_async = !calls.list.is_empty();
            let added = calls.add_of_script(&waiting.script, waiting.offset, is_async);
            if added.is_none() {
                break;
            }
        }
        calls.list
    }

    fn read_activations(&self, calls: &mut Calls) -> Option<()> {
        let memory = self.memory;
        let mut next = memory.read_address(self.context + CONTEXT_ACTIVATION);
        while let Some(activation) = next {
            calls.step()?;
            let is_interpreted = memory.read_byte(activation + activation::KIND)? == 0;
            if !is_interpreted || memory.read_address(activation + activation::CONTEXT)? != self.context {
                return None;
            }
            self.read_frames(activation, calls)?;
            // The calls that a resumed call continues take the place of the activations before.
            if let Some(saved) = memory.read_address(activation + activation::ASYNC_STACK) {
                let cause = memory.read_address(activation + activation::ASYNC_CAUSE)?;
                return self.read_saved_frames(saved, memory.is_text(cause, AWAIT), calls);
            }
            next = memory.read_address(activation + activation::PREVIOUS);
        }
        Some(())
    }

    fn read_frames(&self, activation: usize, calls: &mut Calls) -> Option<()> {
        let memory = self.memory;
        let mut instruction = memory.read_address(activation + activation::INSTRUCTION)?;
        let mut next = memory.read_address(activation + activation::FRAME);
        while let Some(frame) = next {
            calls.step()?;
            let script = Script::read(memory, memory.read_address(frame + frame::SCRIPT)?)?;
            calls.add_of_script(&script, script.compute_offset_of(instruction)?, false)?;
            next = memory.read_address(frame + frame::PREVIOUS);
            if next.is_some() {
                instruction = memory.read_address(frame + frame::PREVIOUS_INSTRUCTION)?;
            }
        }
        Some(())
    }

    /// The calls that an `await` interrupted, and which continue when the present one returns.
    fn read_saved_frames(&self, innermost: usize, mut is_async: bool, calls: &mut Calls) -> Option<()> {
        let mut next = Some(innermost);
        while let Some(frame) = next {
            calls.step()?;
            if !self.memory.has_class(frame, "SavedFrame") {
                return None;
            }
            let text = |slot| self.memory.read_atom(self.memory.read_slot_of(frame, slot, tag::STRING)?);
            let number = |slot| u32::try_from(self.memory.read_slot_of(frame, slot, tag::INTEGER)?).ok();
            let is_async_itself = text(saved::CAUSE).is_some_and(|cause| cause == AWAIT);
            if text(saved::SOURCE)? == BUNDLE {
                let function = text(saved::FUNCTION).unwrap_or_default();
                let (line, column) = (number(saved::LINE)?, number(saved::COLUMN)?);
                calls.add(Call { function, is_async: is_async || is_async_itself, line, column })?;
            }
            is_async = false;
            next = self.memory.read_slot_of(frame, saved::PARENT, tag::OBJECT);
        }
        Some(())
    }
}

/// The calls that were found, and what may still be read.
struct Calls {
    list: Vec<Call>,
    calls_max: usize,
    steps_left: usize,
    notes_left: usize,
}

impl Calls {
    const fn new(calls_max: usize) -> Self {
        Self { list: Vec::new(), calls_max, steps_left: STEPS_MAX, notes_left: NOTES_BYTES_MAX }
    }

    fn step(&mut self) -> Option<()> {
        self.steps_left = self.steps_left.checked_sub(1)?;
        Some(())
    }

    /// Adds the call of a script at an instruction, if the script is the bundle's.
    fn add_of_script(&mut self, script: &Script<'_>, offset: usize, is_async: bool) -> Option<()> {
        if !script.is_bundle()? {
            return Some(());
        }
        let Place { line, column } = script.find_place(offset, &mut self.notes_left)?;
        self.add(Call { function: script.read_name()?, is_async, line, column })
    }

    /// Adds a call; `None` when it is the last one.
    fn add(&mut self, call: Call) -> Option<()> {
        self.list.push(call);
        (self.list.len() < self.calls_max).then_some(())
    }
}

#[cfg(test)]
mod tests;
