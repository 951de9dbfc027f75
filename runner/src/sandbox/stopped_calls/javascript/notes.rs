//! Source notes: bytes that map the instructions of a script to lines and columns (`js/src/frontend/SourceNotes.h`).

/// A position in a script, from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    pub line: u32,
    pub column: u32,
}

/// The position of the instruction at an offset, of a script that begins at `start`. `None` if the bytes are not source notes.
pub fn find_place(notes: &[u8], start: Place, offset: usize) -> Option<Place> {
    let mut notes = Notes(notes);
    let (mut place, mut at) = (start, 0_usize);
    while let Some(note) = notes.take_byte() {
        let is_delta = note & 0x80 != 0;
        at += usize::from(note & if is_delta { 0x7f } else { 0x0f });
        // A delta of zero ends the notes.
        if at > offset || note == 0x80 {
            break;
        }
        if is_delta {
            continue;
        }
        match note >> 4 {
            0 => place.column = place.column.checked_add_signed(extend_sign(notes.take_operand()?))?,
            1 => place = Place { line: place.line.checked_add(1)?, column: 1 },
            2 => place = Place { line: place.line.checked_add(1)?, column: notes.take_operand()? },
            3 => place = Place { line: start.line.checked_add(notes.take_operand()?)?, column: 1 },
            4 => {
                let line = start.line.checked_add(notes.take_operand()?)?;
                place = Place { line, column: notes.take_operand()? };
            }
            // Positions of breakpoints.
            5 | 6 => {}
            _ => return None,
        }
    }
    Some(place)
}

struct Notes<'m>(&'m [u8]);

impl Notes<'_> {
    fn take_byte(&mut self) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }

    /// A number of 7 bits, or of 31 bits, highest first, after a bit that is set.
    fn take_operand(&mut self) -> Option<u32> {
        if self.0.first()? & 0x80 == 0 {
            return self.take_byte().map(u32::from);
        }
        let (bytes, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(u32::from_be_bytes(*bytes) & 0x7fff_ffff)
    }
}

/// The signed number of an operand, whose highest bit of 31 is its sign.
const fn extend_sign(operand: u32) -> i32 {
    (operand << 1).cast_signed() >> 1
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const START: Place = Place { line: 3, column: 10 };

    #[test]
    fn notes_move_the_place() {
        let notes = [
            0x02, 5,    // two bytes on, 5 columns to the right
            0x11, // one byte on, the next line
            0x81, 0x00, 0xff, 0xff, 0xff, 0xff, // one byte on, a column to the left, which is none
        ];
        let at = |notes: &[u8], offset| find_place(notes, START, offset).map(|Place { line, column }| (line, column));
        assert_eq!([at(&notes, 1), at(&notes, 2), at(&notes, 3)], [Some((3, 10)), Some((3, 15)), Some((4, 1))]);
        assert_eq!(at(&notes, 4), Some((4, 0)));
        let notes = [0x41, 2, 0x80, 0, 1, 0, 0x51, 0x21, 7, 0x31, 9, 0x80, 0x71];
        assert_eq!([at(&notes, 1), at(&notes, 2)], [Some((5, 256)); 2]);
        assert_eq!([at(&notes, 3), at(&notes, 4), at(&notes, 99)], [Some((6, 7)), Some((12, 1)), Some((12, 1))]);
        assert_eq!((at(&[], 5), at(&[0x71], 5), at(&[0x41, 1], 5)), (Some((3, 10)), None, None));
    }

    proptest! {
        #[test]
        fn no_bytes_do_harm(notes in prop::collection::vec(any::<u8>(), 0..64), line: u32, column: u32, offset: usize) {
            find_place(&notes, Place { line, column }, offset);
        }
    }
}
