//! Scripts: the instructions of functions (`js/src/vm/JSScript.h`, `JSFunction.h`, `SharedStencil.h`).

use super::memory::{Memory, tag};
use super::notes::{Place, find_place};

/// The name of the bundle's script; see the image's `bundle.js`.
pub const BUNDLE: &str = "lathe:bundle";

/// Offsets in a script.
pub mod field {
    pub const FUNCTION: usize = 0x08;
    pub const SOURCE: usize = 0x0c;
    pub const LINE: usize = 0x20;
    pub const COLUMN: usize = 0x24;
    pub const SHARED: usize = 0x34;
    /// In the shared data.
    pub const CODE: usize = 0x08;
}

/// Offsets in the code of a script.
pub mod code {
    /// The offset of the places at which a generator continues. The source notes end before it.
    pub const RESUME_OFFSETS: usize = 0x00;
    pub const LENGTH: usize = 0x04;
    /// The lowest two bits tell where the end of these places is.
    pub const FLAGS: usize = 0x20;
    pub const BYTES: usize = 0x21;
}

/// Offsets in a source.
pub mod source {
    pub const FILE: usize = 0x3c;
    pub const DISPLAY_URL: usize = 0x48;
    /// In a text: its address, and its bytes with a zero at the end.
    pub const LENGTH: usize = 0x04;
}

/// Slots of functions and sources.
pub mod slot {
    pub const SCRIPT: usize = 2;
    pub const NAME: usize = 3;
    pub const SOURCE: usize = 1;
}

/// A script with its code.
pub struct Script<'m> {
    memory: Memory<'m>,
    address: usize,
    code: usize,
    /// Bytes of instructions.
    length: usize,
    function: Option<usize>,
}

impl<'m> Script<'m> {
    /// A script, which has a function that has it.
    pub fn read(memory: Memory<'m>, address: usize) -> Option<Self> {
        let code = memory.read_address(memory.read_address(address + field::SHARED)? + field::CODE)?;
        let length = memory.read_number(code + code::LENGTH)?;
        let function = memory.read_address(address + field::FUNCTION);
        let is_whole = function.is_none_or(|function| {
            memory.has_class(function, "Function")
                && memory.read_slot_of(function, slot::SCRIPT, tag::PRIVATE) == Some(address)
        });
        is_whole.then_some(Self { memory, address, code, length, function })
    }

    /// The script of a function.
    pub fn of_function(memory: Memory<'m>, function: usize) -> Option<Self> {
        Self::read(memory, memory.read_slot_of(function, slot::SCRIPT, tag::PRIVATE)?)
    }

    /// The offset of an instruction of the script.
    pub fn compute_offset_of(&self, instruction: usize) -> Option<usize> {
        instruction.checked_sub(self.code + code::BYTES).filter(|offset| *offset < self.length)
    }

    /// The offset of the instruction at which a generator continues.
    pub fn read_offset_of_resumption(&self, index: usize) -> Option<usize> {
        let begin = self.memory.read_number(self.code + code::RESUME_OFFSETS)?;
        let end_index = usize::from(self.memory.read_byte(self.code + code::FLAGS)? & 3);
        let end = self.memory.read_number((self.code + begin).checked_sub(4 * end_index)?)?;
        let at = begin.checked_add(index.checked_mul(4)?).filter(|at| end_index > 0 && *at < end)?;
        self.memory.read_number(self.code + at).filter(|offset| *offset < self.length)
    }

    /// The name of the function, which is empty if it has none.
    pub fn read_name(&self) -> Option<String> {
        match self.memory.read_slot(self.function?, slot::NAME)? {
            (name, tag::STRING) => self.memory.read_atom(name),
            _ => Some(String::new()),
        }
    }

    /// Whether the script is of the author's code.
    pub fn is_bundle(&self) -> Option<bool> {
        let Some(url) = self.memory.read_address(self.read_source()? + source::DISPLAY_URL) else { return Some(false) };
        let expected = BUNDLE.encode_utf16().chain([0]).flat_map(u16::to_le_bytes);
        Some(self.read_text(url)?.iter().copied().eq(expected))
    }

    /// Whether the script is that of a file of the image.
    pub fn is_file(&self, file: &str) -> Option<bool> {
        let name = self.memory.read_address(self.read_source()? + source::FILE)?;
        Some(self.read_text(name)?.iter().copied().eq(file.bytes().chain([0])))
    }

    fn read_source(&self) -> Option<usize> {
        let object = self.memory.read_address(self.address + field::SOURCE)?;
        let is_source = self.memory.has_class(object, "ScriptSource");
        self.memory.read_slot_of(object, slot::SOURCE, tag::PRIVATE).filter(|_| is_source)
    }

    fn read_text(&self, text: usize) -> Option<&'m [u8]> {
        self.memory.read_bytes(self.memory.read_address(text)?, self.memory.read_number(text + source::LENGTH)?)
    }

    /// The position of an instruction, if its source notes are within the bytes that are left.
    pub fn find_place(&self, offset: usize, notes_left: &mut usize) -> Option<Place> {
        let (begin, end) =
            (code::BYTES.checked_add(self.length)?, self.memory.read_number(self.code + code::RESUME_OFFSETS)?);
        let notes = self.memory.read_bytes(self.code + begin, end.checked_sub(begin)?)?;
        *notes_left = notes_left.checked_sub(notes.len())?;
        let (line, column) = (self.address + field::LINE, self.address + field::COLUMN);
        find_place(notes, Place { line: self.memory.read_word(line)?, column: self.memory.read_word(column)? }, offset)
    }
}
