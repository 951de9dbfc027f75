//! Makes the objects that `shim/lathe_runtime/immortal.py` lists immortal.
//!
//! The interpreter neither counts references to an immortal object nor frees it. A run then does not copy pages only to
//! update reference counts. Runs are short, so the memory that is never freed does not matter.

use anyhow::{Context, Result, ensure};

use crate::word::{WORD_BYTES, put, word};

/// The bitwise complement of the words that precede the list in memory, as in `immortal.py`.
const MARK: [u32; 4] = [0x6A62_6F73, 0x7463_6520, 0x6920_666F, 0x6567_616D];

/// Lowest reference count of an immortal object in 32-bit builds of CPython 3.14 (`Include/refcount.h`).
const IMMORTAL_FROM: u32 = 1 << 30;
/// Reference count that CPython gives its own immortal objects. The margin above the lowest count allows for code that
/// counts references to immortal objects nevertheless.
const IMMORTAL: u32 = 5 << 28;

/// Sets the reference counts of the listed objects in an image's memory, and clears the list.
///
/// # Errors
/// When the memory contains no list or several, or a list entry does not point to a valid object.
pub fn make(memory: &mut [u8]) -> Result<()> {
    let mark: Vec<u8> = MARK.iter().flat_map(|word| (!word).to_le_bytes()).collect();
    let mut marks = memory.windows(mark.len()).enumerate().filter(|(_, window)| *window == mark);
    let (place, _) = marks.next().context("the image does not list its objects")?;
    ensure!(marks.next().is_none(), "the image has more than one list of its objects");
    let list = place + mark.len();
    let count = word(memory, list)?;
    for index in 1..=count as usize {
        let entry = list + index * WORD_BYTES;
        let object = word(memory, entry)? as usize;
        let references = word(memory, object)?;
        ensure!(references > 0 && references >> 31 == 0, "no object counts {references} references, as at {object}");
        if references < IMMORTAL_FROM {
            put(memory, object, IMMORTAL)?;
        }
        put(memory, entry, 0)?;
    }
    Ok(())
}
