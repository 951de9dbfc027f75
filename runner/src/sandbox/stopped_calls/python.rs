//! The calls in which the host stopped a Python tool, read from the memory of its interpreter.
//!
//! CPython describes its structures in a table for programs that read the memory of another process (PEP 768). The memory is a
//! guest's: each address in it is checked, and each loop has a bound.

use std::fmt;

use super::position::{Position, SHOWN_MAX};

/// Begins the table.
const COOKIE: &[u8; 8] = b"xdebugpy";
/// The release whose table this module reads, in the first two bytes of the version.
const RELEASE: usize = 0x030e;
/// Bytes of memory in which the table is: static data lies before the heap.
const TABLE_WITHIN: usize = 16 << 20;
/// Calls that are followed. The interpreter itself allows a thousand in Python.
const CALLS_MAX: usize = 2_000;
/// Characters of a name and of a path.
const TEXT_MAX: usize = 300;
/// Bytes of the line numbers of a function.
const LINES_BYTES_MAX: usize = 1 << 20;
/// The last kind of owner of a call that has code: a thread, a generator or an object. Others are entries from C.
const OWNER_MAX: u8 = 2;
/// The directory of packages.
const PACKAGES: &str = "site-packages/";
/// Prefixes of the files of the image, as in its `run.py`.
const NOT_THE_AUTHORS: [&str; 5] = ["/0/", "/world/", "/bundled/", "/python/", "<frozen "];

/// Positions in the table, whose entries are offsets of fields.
mod table {
    pub const VERSION: usize = 0;
    pub const INTERPRETERS: usize = 4;
    pub const THREADS: usize = 8;
    pub const CURRENT_FRAME: usize = 25;
    pub const PREVIOUS: usize = 31;
    pub const EXECUTABLE: usize = 32;
    pub const INSTRUCTION: usize = 33;
    pub const OWNER: usize = 35;
    pub const FILE: usize = 39;
    pub const NAME: usize = 41;
    pub const LINES: usize = 42;
    pub const FIRST_LINE: usize = 43;
    pub const CODE: usize = 47;
    pub const BYTES_LENGTH: usize = 74;
    pub const BYTES: usize = 75;
    pub const TEXT_STATE: usize = 77;
    pub const TEXT_LENGTH: usize = 78;
    pub const ASCII_SIZE: usize = 79;
}

/// A call of a function of the author's.
#[derive(Debug)]
struct Call {
    file: String,
    line: Option<u32>,
    function: String,
}

/// The author's calls as lines of a stack trace, outermost first. Empty if the memory is not that of an interpreter in a call.
pub fn read_stack_trace(memory: &[u8]) -> Vec<String> {
    let calls = read_calls(memory);
    if calls.is_empty() {
        return Vec::new();
    }
    let mut lines: Vec<String> = calls.iter().take(SHOWN_MAX).map(Call::to_string).collect();
    lines.push("Traceback (most recent call last):".to_owned());
    lines.reverse();
    lines
}

/// The innermost call in the project's own files.
pub fn find_innermost(memory: &[u8]) -> Option<Position> {
    let own = read_calls(memory).into_iter().find(|call| !call.file.starts_with(PACKAGES))?;
    Some(Position { file: own.file, line: own.line })
}

fn read_calls(memory: &[u8]) -> Vec<Call> {
    Interpreter::find(memory).and_then(|interpreter| interpreter.read_calls()).unwrap_or_default()
}

/// Writes the call as Python does.
impl fmt::Display for Call {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { file, line, function } = self;
        match line {
            Some(line) => write!(formatter, "  File \"{file}\", line {line}, in {function}"),
            None => write!(formatter, "  File \"{file}\", in {function}"),
        }
    }
}

struct Interpreter<'m> {
    memory: &'m [u8],
    /// Address of the table, with which the state of the runtime begins.
    runtime: usize,
}

impl<'m> Interpreter<'m> {
    fn find(memory: &'m [u8]) -> Option<Self> {
        let (words, _) = memory.get(..TABLE_WITHIN.min(memory.len()))?.as_chunks::<8>();
        let places = words.iter().enumerate().filter(|(_, word)| *word == COOKIE).map(|(index, _)| index * 8);
        let mut found = places.map(|runtime| Self { memory, runtime });
        found.find(|one| one.read_offset(table::VERSION).is_some_and(|version| version >> 16 == RELEASE))
    }

    /// An entry of the table.
    fn read_offset(&self, position: usize) -> Option<usize> {
        self.read_word(self.runtime + COOKIE.len() + 8 * position)
    }

    /// The field of a structure that an entry of the table describes.
    fn read_field(&self, structure: usize, position: usize) -> Option<usize> {
        self.read_word(structure.checked_add(self.read_offset(position)?)?)
    }

    fn read_word(&self, address: usize) -> Option<usize> {
        let bytes = self.memory.get(address..)?.first_chunk::<4>()?;
        usize::try_from(u32::from_le_bytes(*bytes)).ok()
    }

    /// The author's calls, innermost first.
    fn read_calls(&self) -> Option<Vec<Call>> {
        let interpreter = self.read_field(self.runtime, table::INTERPRETERS)?;
        let thread = self.read_field(interpreter, table::THREADS)?;
        let mut frame = self.read_field(thread, table::CURRENT_FRAME)?;
        let mut calls = Vec::new();
        for _ in 0..CALLS_MAX {
            if frame == 0 {
                break;
            }
            calls.extend(self.call(frame));
            frame = self.read_field(frame, table::PREVIOUS)?;
        }
        Some(calls)
    }

    /// A call, if it is the author's.
    fn call(&self, frame: usize) -> Option<Call> {
        let owner = *self.memory.get(frame.checked_add(self.read_offset(table::OWNER)?)?)?;
        if owner > OWNER_MAX {
            return None;
        }
        // The lowest bits of a reference are flags.
        let code = self.read_field(frame, table::EXECUTABLE)? & !3;
        let file = self.read_text(self.read_field(code, table::FILE)?)?;
        if NOT_THE_AUTHORS.iter().any(|prefix| file.starts_with(prefix)) {
            return None;
        }
        let function = self.read_text(self.read_field(code, table::NAME)?)?;
        let begin = code.checked_add(self.read_offset(table::CODE)?)?;
        let at = self.read_field(frame, table::INSTRUCTION)?.checked_sub(begin)?;
        let lines = self.read_lines(self.read_field(code, table::LINES)?)?;
        let first = i64::try_from(self.read_field(code, table::FIRST_LINE)?).ok()?;
        Some(Call { file, line: find_line(lines, first, at), function })
    }

    /// A text, whose state has its form: bits 2 to 4 are the bytes of a character, and bit 6 is set for ASCII.
    fn read_text(&self, object: usize) -> Option<String> {
        let state = self.read_field(object, table::TEXT_STATE)?;
        let length = self.read_field(object, table::TEXT_LENGTH)?.min(TEXT_MAX);
        let (size, is_ascii) = ((state >> 2) & 7, state & 0x40 != 0);
        // Other texts have the length and the address of their UTF-8 before the characters.
        let start = object.checked_add(self.read_offset(table::ASCII_SIZE)?)? + if is_ascii { 0 } else { 8 };
        let bytes = self.memory.get(start..start.checked_add(length * size)?)?;
        let units: Vec<u32> = match size {
            1 => bytes.iter().map(|byte| u32::from(*byte)).collect(),
            2 => bytes.as_chunks().0.iter().map(|unit| u32::from(u16::from_le_bytes(*unit))).collect(),
            4 => bytes.as_chunks().0.iter().map(|unit| u32::from_le_bytes(*unit)).collect(),
            _ => return None,
        };
        Some(units.into_iter().map(|unit| char::from_u32(unit).unwrap_or(char::REPLACEMENT_CHARACTER)).collect())
    }

    fn read_lines(&self, object: usize) -> Option<&'m [u8]> {
        let length = self.read_field(object, table::BYTES_LENGTH)?.min(LINES_BYTES_MAX);
        let start = object.checked_add(self.read_offset(table::BYTES)?)?;
        self.memory.get(start..start.checked_add(length)?)
    }
}

/// The line of an instruction. An entry of the table begins with a byte whose highest bit is set: four bits of its form, and
/// three bits of the number of code units of two bytes, less one.
fn find_line(lines: &[u8], first: i64, at: usize) -> Option<u32> {
    let (mut line, mut end) = (first, 0);
    for entry in lines.chunk_by(|_, next| next & 0x80 == 0) {
        let (head, rest) = entry.split_first()?;
        let form = (head >> 3) & 15;
        line = line.checked_add(match form {
            10..=12 => i64::from(form - 10),
            13 | 14 => read_signed(rest),
            _ => 0,
        })?;
        end += (usize::from(head & 7) + 1) * 2;
        if at < end {
            return (form != 15).then_some(line).and_then(|line| u32::try_from(line).ok());
        }
    }
    None
}

/// A number in groups of six bits, lowest first. Its lowest bit is its sign.
fn read_signed(bytes: &[u8]) -> i64 {
    let mut value = 0_i64;
    for (index, byte) in bytes.iter().take(6).enumerate() {
        value |= i64::from(byte & 63) << (6 * index);
        if byte & 64 == 0 {
            break;
        }
    }
    if value & 1 == 0 { value >> 1 } else { -(value >> 1) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_those_of_the_table() {
        // Two units in line 3, one in the line after it, one without a line, one nine lines before.
        let lines = [0x80 | (10 << 3) | 1, 0, 0, 0x80 | (11 << 3), 0, 0, 0x80 | (15 << 3), 0x80 | (13 << 3), 19];
        let at = |offset| find_line(&lines, 3, offset);
        assert_eq!([at(0), at(3), at(4), at(6), at(9), at(10)], [Some(3), Some(3), Some(4), None, None, None]);
        assert_eq!(find_line(&lines, 30, 8), Some(22));
        assert_eq!((read_signed(&[]), read_signed(&[64 | 2, 1]), read_signed(&[3])), (0, 33, -1));
    }

    #[test]
    fn other_memory_has_no_calls() {
        assert!(read_stack_trace(&[]).is_empty() && read_stack_trace(&[0; 64]).is_empty());
        let mut hostile = vec![0xff; 1 << 16];
        hostile[..8].copy_from_slice(COOKIE);
        hostile[8..16].copy_from_slice(&0x030e_0000_u64.to_le_bytes());
        assert!(read_stack_trace(&hostile).is_empty());
    }
}
