//! Snapshots: an image with other things in its memory, as a component of its own.
//!
//! What an image was when it was made is its code, its tables, its globals, and its memory. While nothing of it is being
//! called, only the memory tells what it has done since: its stack is empty, so that the stack's pointer is where it was;
//! nothing in it changes a table; and its other globals are those of WASI's adapter, which finds its state anew in each
//! instance. So a component with that memory in place of its own goes on where the other one was. What it had of the host
//! would be missing; who takes a picture makes sure that it has nothing ([`crate::Interpreter::picture`]).

use registry::Digest;
use wasm_encoder::{ConstExpr, DataCountSection, DataSection, MemorySection, MemoryType, Module, RawSection};
use wasmparser::{BinaryReaderError, Parser, Payload};

use crate::Error;
use crate::packed::PAGE_BYTES;
use crate::split::{self, Split};

/// A segment ends where so many bytes are zero: fewer segments are faster to read than a few zeros.
const ZEROS_BYTES: usize = 4 << 10;

/// The same component with this as what its memory has at first.
///
/// # Errors
/// `Rejected` when the component has not the shape of an image, or the memory is none.
pub fn with_memory(image: &[u8], memory: &[u8]) -> Result<Vec<u8>, Error> {
    let no_image = || Error::rejected("the component is no image");
    let made = try_with_memory(image, memory).map_err(|error| Error::rejected(error.to_string()))?;
    made.ok_or_else(no_image)
}

/// What the memory of such a component has at first; nothing when it is of another shape. That it is a snapshot of an image is
/// certain when the image with this memory is the same component.
///
/// # Errors
/// `Rejected` when the bytes are no component.
pub fn memory_of(component: &[u8], bytes_max: usize) -> Result<Option<Vec<u8>>, Error> {
    let split =
        split::split(component, split::PLATFORM_BYTES_MAX).map_err(|error| Error::rejected(error.to_string()))?;
    let Some(Split { mut image, minimum, .. }) = split.filter(|split| split.minimum <= bytes_max) else {
        return Ok(None);
    };
    image.resize(minimum, 0);
    Ok(Some(image))
}

fn try_with_memory(image: &[u8], memory: &[u8]) -> Result<Option<Vec<u8>>, BinaryReaderError> {
    let Some(place) = split::owner(image)? else { return Ok(None) };
    let Some(module) = image.get(place.clone()) else { return Ok(None) };
    let Some(segments) = segments(memory) else { return Ok(None) };
    let mut changed = Module::new();
    for payload in Parser::new(0).parse_all(module) {
        let payload = payload?;
        match (&payload, payload.as_section()) {
            (Payload::MemorySection(_), _) => {
                changed.section(&resized(module, Some(memory.len() / PAGE_BYTES))?);
            }
            (Payload::DataCountSection { .. }, _) => {
                changed.section(&DataCountSection { count: segments.len() });
            }
            (Payload::DataSection(_), _) => {
                changed.section(&segments);
            }
            (_, Some((id, range))) => {
                changed.section(&RawSection { id, data: &module[range] });
            }
            _ => {}
        }
    }
    split::with_module(image, &place, &changed.finish()).map(Some)
}

/// Everything in a memory that is not zero.
fn segments(memory: &[u8]) -> Option<DataSection> {
    if !memory.len().is_multiple_of(PAGE_BYTES) {
        return None;
    }
    let mut section = DataSection::new();
    let mut pieces = memory.chunks(ZEROS_BYTES).enumerate().peekable();
    let is_zero = |piece: &[u8]| piece.iter().all(|byte| *byte == 0);
    while let Some((index, first)) = pieces.next() {
        if is_zero(first) {
            continue;
        }
        let start = index * ZEROS_BYTES;
        let mut end = start + first.len();
        while let Some((_, piece)) = pieces.next_if(|(_, piece)| !is_zero(piece)) {
            end += piece.len();
        }
        let at = u32::try_from(start).ok()?.cast_signed();
        section.active(0, &ConstExpr::i32_const(at), memory[start..end].iter().copied());
    }
    Some(section)
}

/// The module's memory with so many pages at first; with none when they are not told.
fn resized(module: &[u8], pages: Option<usize>) -> Result<MemorySection, BinaryReaderError> {
    let mut section = MemorySection::new();
    for payload in Parser::new(0).parse_all(module) {
        let Payload::MemorySection(memories) = payload? else { continue };
        for memory in memories {
            let memory = memory?;
            section.memory(MemoryType {
                minimum: pages.map_or(0, |pages| pages as u64),
                maximum: memory.maximum,
                memory64: memory.memory64,
                shared: memory.shared,
                page_size_log2: memory.page_size_log2,
            });
        }
    }
    Ok(section)
}

/// Names the code of an image: that of its snapshots is the same.
///
/// # Errors
/// When the bytes are no component.
pub fn code_name(split: &Split) -> Result<Digest, BinaryReaderError> {
    let Some(place) = split::owner(&split.component)? else { return Ok(Digest::of(&split.component)) };
    let module = &split.component[place.clone()];
    let mut changed = Module::new();
    for payload in Parser::new(0).parse_all(module) {
        let payload = payload?;
        match (&payload, payload.as_section()) {
            (Payload::MemorySection(_), _) => {
                changed.section(&resized(module, None)?);
            }
            (_, Some((id, range))) => {
                changed.section(&RawSection { id, data: &module[range] });
            }
            _ => {}
        }
    }
    Ok(Digest::of(&split::with_module(&split.component, &place, &changed.finish())?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn image(module: &str) -> Vec<u8> {
        wat::parse_str(format!("(component (core module (func) (global (mut i32) (i32.const 9)) {module}))")).unwrap()
    }

    #[test]
    fn a_snapshot_has_the_memory_and_the_code_of_its_image() {
        let image = image("(memory 1 8) (data (i32.const 8) \"image\")");
        let mut memory = vec![0; 3 * PAGE_BYTES];
        memory[70_000..70_008].copy_from_slice(b"snapshot");
        memory[3 * PAGE_BYTES - 1] = 1;
        let made = with_memory(&image, &memory).unwrap();
        wasmparser::Validator::new().validate_all(&made).unwrap();
        let (of_image, of_snapshot) = (
            split::split(&image, split::PLATFORM_BYTES_MAX).unwrap().unwrap(),
            split::split(&made, split::PLATFORM_BYTES_MAX).unwrap().unwrap(),
        );
        assert_eq!((of_image.minimum, of_snapshot.minimum), (PAGE_BYTES, memory.len()));
        assert!(of_snapshot.image == memory, "the memory");
        assert_eq!(code_name(&of_image).unwrap(), code_name(&of_snapshot).unwrap());
        assert_eq!(with_memory(&image, &memory).unwrap(), made, "the same bytes every time");
        assert!(memory_of(&made, memory.len()).unwrap().as_ref() == Some(&memory), "the memory that it was made of");
        assert!(memory_of(&made, memory.len() - 1).unwrap().is_none(), "more than it may have");
        let other = self::image("(memory 1 8) (data (i32.const 8) \"image\") (func)");
        assert_ne!(
            code_name(&split::split(&other, split::PLATFORM_BYTES_MAX).unwrap().unwrap()).unwrap(),
            code_name(&of_image).unwrap()
        );
    }

    #[test]
    fn what_is_no_image_has_no_snapshot() {
        assert!(with_memory(b"no component", &[0; PAGE_BYTES]).is_err());
        assert!(memory_of(b"no component", PAGE_BYTES).is_err());
        assert!(memory_of(&wat::parse_str("(component)").unwrap(), PAGE_BYTES).unwrap().is_none());
        assert!(with_memory(&wat::parse_str("(component)").unwrap(), &[0; PAGE_BYTES]).is_err());
        let image = image("(memory 1) (data (i32.const 8) \"image\")");
        assert!(with_memory(&image, &[0; 100]).is_err(), "a part of a page");
    }
}
