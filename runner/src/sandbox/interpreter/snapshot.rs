//! Snapshots: components that consist of an image and another initial memory.
//!
//! The state of an image is its code, tables, globals and memory. Between two calls only the memory differs from the initial
//! state: the stack is empty, so that the stack pointer has its initial value; no code changes a table; and the other globals
//! belong to WASI's adapter, which finds its state anew in each instance. So an image with the memory of a running instance
//! continues where that instance was. A snapshot has no resources of the host, so a capture refuses instances
//! that hold any ([`crate::Interpreter::memory_capture`]).

use wasm_encoder::{ConstExpr, DataCountSection, DataSection, Module, RawSection};
use wasmparser::{BinaryReaderError, Parser, Payload};

use crate::Error;
use crate::sandbox::code::component_memory::{
    InitialMemory, PLATFORM_MEMORY_BYTES_MAX, WASM_PAGE_BYTES, build_memory_section, find_memory_owner, with_module,
};

/// Zeros that end a segment. Fewer segments are faster to read than a few zeros.
const ZEROS_BYTES: usize = 4 << 10;

/// Returns the image with another initial memory.
///
/// # Errors
/// `Rejected` when the component does not have the shape of an image, or the memory is not of whole pages.
pub fn with_memory(image: &[u8], memory: &[u8]) -> Result<Vec<u8>, Error> {
    let made = try_with_memory(image, memory).map_err(|error| Error::rejected(error.to_string()))?;
    made.ok_or_else(|| Error::rejected("the component does not have the shape of an image"))
}

/// Returns the initial memory of a component; `None` when the component has another shape or the memory more bytes than the
/// bound. A component is a snapshot of an image when [`with_memory`] makes the same component of the image and this memory.
///
/// # Errors
/// `Rejected` when the bytes are not a component.
pub fn memory_of(component: &[u8], bytes_max: usize) -> Result<Option<Vec<u8>>, Error> {
    let memory = InitialMemory::read(component, PLATFORM_MEMORY_BYTES_MAX);
    let memory = memory.map_err(|error| Error::rejected(error.to_string()))?;
    Ok(memory.filter(|memory| memory.minimum <= bytes_max).map(InitialMemory::into_whole))
}

fn try_with_memory(image: &[u8], memory: &[u8]) -> Result<Option<Vec<u8>>, BinaryReaderError> {
    let Some(owner) = find_memory_owner(image)? else { return Ok(None) };
    let Some(module) = image.get(owner.clone()) else { return Ok(None) };
    let Some(segments) = build_segments(memory) else { return Ok(None) };
    let mut changed = Module::new();
    for payload in Parser::new(0).parse_all(module) {
        let payload = payload?;
        match (&payload, payload.as_section()) {
            (Payload::MemorySection(_), _) => {
                changed.section(&build_memory_section(module, (memory.len() / WASM_PAGE_BYTES) as u64)?);
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
    with_module(image, &owner, &changed.finish()).map(Some)
}

/// Returns segments with all bytes of a memory that are not zero.
fn build_segments(memory: &[u8]) -> Option<DataSection> {
    if !memory.len().is_multiple_of(WASM_PAGE_BYTES) {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn image(module: &str) -> Vec<u8> {
        wat::parse_str(format!("(component (core module (func) (global (mut i32) (i32.const 9)) {module}))")).unwrap()
    }

    #[test]
    fn a_snapshot_is_its_image_with_another_memory() {
        let image = image("(memory 1 8) (data (i32.const 8) \"image\")");
        let mut memory = vec![0; 3 * WASM_PAGE_BYTES];
        memory[70_000..70_008].copy_from_slice(b"snapshot");
        memory[3 * WASM_PAGE_BYTES - 1] = 1;
        let made = with_memory(&image, &memory).unwrap();
        wasmparser::Validator::new().validate_all(&made).unwrap();
        let read = |component: &[u8]| InitialMemory::read(component, PLATFORM_MEMORY_BYTES_MAX).unwrap().unwrap();
        assert_eq!((read(&image).minimum, read(&made).minimum), (WASM_PAGE_BYTES, memory.len()));
        assert!(read(&made).bytes == memory, "the memory");
        assert_eq!(with_memory(&image, &memory).unwrap(), made, "the same bytes every time");
        assert!(memory_of(&made, memory.len()).unwrap().as_ref() == Some(&memory), "the memory that it was made of");
        assert!(memory_of(&made, memory.len() - 1).unwrap().is_none(), "more than it may have");
    }

    #[test]
    fn other_components_have_no_snapshot() {
        assert!(with_memory(b"no component", &[0; WASM_PAGE_BYTES]).is_err());
        assert!(memory_of(b"no component", WASM_PAGE_BYTES).is_err());
        assert!(memory_of(&wat::parse_str("(component)").unwrap(), WASM_PAGE_BYTES).unwrap().is_none());
        assert!(with_memory(&wat::parse_str("(component)").unwrap(), &[0; WASM_PAGE_BYTES]).is_err());
        let image = image("(memory 1) (data (i32.const 8) \"image\")");
        assert!(with_memory(&image, &[0; 100]).is_err(), "a part of a page");
    }
}
