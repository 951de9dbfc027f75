//! Values, objects and texts in the memory of the engine. `None` where the memory is not that of what is read.

/// Characters of a name.
const TEXT_MAX: usize = 300;
/// Bytes of an object before its slots.
const SLOTS: usize = 0x10;
const SLOT_BYTES: usize = 8;

/// Types of values (`js/public/Value.h`).
pub mod tag {
    pub const PRIVATE: u32 = 0;
    pub const INTEGER: u32 = 0xffff_ff81;
    pub const STRING: u32 = 0xffff_ff86;
    pub const OBJECT: u32 = 0xffff_ff8c;
}

/// Flags and fields of texts (`js/src/vm/StringType.h`).
pub mod text {
    pub const ATOM: u32 = 0x08;
    pub const INLINE: u32 = 0x40;
    pub const LATIN_1: u32 = 0x400;
    pub const LENGTH: usize = 0x04;
    pub const CHARACTERS: usize = 0x08;
}

/// The memory of a guest, in which each address is checked.
#[derive(Clone, Copy)]
pub struct Memory<'m>(pub &'m [u8]);

impl<'m> Memory<'m> {
    pub fn read_byte(self, address: usize) -> Option<u8> {
        self.0.get(address).copied()
    }

    pub fn read_bytes(self, start: usize, length: usize) -> Option<&'m [u8]> {
        self.0.get(start..start.checked_add(length)?)
    }

    pub fn read_word(self, address: usize) -> Option<u32> {
        Some(u32::from_le_bytes(*self.0.get(address..)?.first_chunk()?))
    }

    /// A word as a number, which is never so large that adding to it overflows.
    pub fn read_number(self, address: usize) -> Option<usize> {
        usize::try_from(self.read_word(address)?).ok()
    }

    /// An address that is not null.
    pub fn read_address(self, at: usize) -> Option<usize> {
        self.read_number(at).filter(|address| *address != 0)
    }

    /// Value and type in a slot of an object.
    pub fn read_slot(self, object: usize, index: usize) -> Option<(usize, u32)> {
        let at = compute_slot_address(object, index);
        Some((self.read_number(at)?, self.read_word(at + 4)?))
    }

    /// The value in a slot, if it has the type.
    pub fn read_slot_of(self, object: usize, index: usize, tag: u32) -> Option<usize> {
        self.read_slot(object, index).filter(|(_, found)| *found == tag).map(|(value, _)| value)
    }

    /// Whether an object is of a class, as all objects of the class tell by the same shapes.
    pub fn has_class(self, object: usize, name: &str) -> bool {
        let class = || self.read_address(self.read_address(self.read_address(self.read_address(object)?)?)?);
        class().is_some_and(|class| self.is_text(class, name))
    }

    /// A text that the engine has once.
    pub fn read_atom(self, atom: usize) -> Option<String> {
        let flags = self.read_word(atom).filter(|flags| flags & text::ATOM != 0)?;
        let length = self.read_number(atom + text::LENGTH)?.min(TEXT_MAX);
        let start = atom + text::CHARACTERS;
        let start = if flags & text::INLINE == 0 { self.read_address(start)? } else { start };
        if flags & text::LATIN_1 != 0 {
            return Some(self.read_bytes(start, length)?.iter().copied().map(char::from).collect());
        }
        let units = self.read_bytes(start, 2 * length)?.as_chunks().0;
        let units: Vec<u16> = units.iter().map(|unit| u16::from_le_bytes(*unit)).collect();
        Some(String::from_utf16_lossy(&units))
    }

    /// Whether a text of C is at an address.
    pub fn is_text(self, address: usize, text: &str) -> bool {
        let found = self.0.get(address..).and_then(|rest| rest.split_at_checked(text.len()));
        found.is_some_and(|(found, rest)| found == text.as_bytes() && rest.first() == Some(&0))
    }
}

pub const fn compute_slot_address(object: usize, index: usize) -> usize {
    object + SLOTS + SLOT_BYTES * index
}
