//! Makes the image's objects immortal, as `shim/lathe_runtime/immortal.py` lists them.
//!
//! The interpreter neither counts references to an immortal object nor frees it. A run is spared the copy of every page
//! on which it would only have counted, and no run lives long enough to miss the memory.

use anyhow::{Context, Result, ensure};

use crate::word::{WORD_BYTES, put, word};

/// What `immortal.py` writes before the list, complemented.
const MARK: [u32; 4] = [0x6A62_6F73, 0x7463_6520, 0x6920_666F, 0x6567_616D];

/// Where CPython 3.14 begins to take a count for that of an immortal object, in 32-bit builds, and what it gives those
/// that it makes itself. Above the first there is room for code that counts all the same. (`Include/refcount.h`)
const IMMORTAL_FROM: u32 = 1 << 30;
const IMMORTAL: u32 = 5 << 28;

/// Changes the memory of an image, and blanks the list.
///
/// # Errors
/// When there is no list, or what it points at does not look like objects.
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
