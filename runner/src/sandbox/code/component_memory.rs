//! The linear memory that a component begins with, read from and written into the component's bytes.
//!
//! The initial memory is known when one module directly inside the component owns the only memory, and constants place all
//! of its data segments. Language images have that shape, and so has what compilers make of authors' code. Snapshots replace
//! the initial memory (`snapshot.rs`); `memory_reuse.rs` stores it beside the compiled code.

use std::ops::Range;

use wasm_encoder::{Component, MemorySection, RawSection};
use wasmparser::{BinaryReaderError, Data, DataKind, FunctionBody, MemoryType, Operator, Parser, Payload, TypeRef};

/// Size of a page of WebAssembly.
pub const WASM_PAGE_BYTES: usize = 64 << 10;
/// Largest initial memory of a language image: eight times that of the Python image.
pub const PLATFORM_MEMORY_BYTES_MAX: u64 = 256 << 20;
/// Largest initial memory of an author's component: a stack of a megabyte followed by a lot of data. Without the bound, a
/// single byte at the end of a large memory would make a large file.
pub const AUTHOR_MEMORY_BYTES_MAX: u64 = 8 << 20;

/// Initial memory of a component.
pub struct InitialMemory {
    /// Position in the component of the module that owns the memory.
    pub owner: Range<usize>,
    /// Whole pages, up to the last one that is not zero.
    pub bytes: Vec<u8>,
    /// Size of the memory at the start; the rest is zeros.
    pub minimum: usize,
}

impl InitialMemory {
    /// Reads the initial memory; `None` when the component has another shape, when the memory is all zeros, or when data lies
    /// beyond `bytes_max`.
    ///
    /// # Errors
    /// When the bytes are not a component.
    pub fn read(component: &[u8], bytes_max: u64) -> Result<Option<Self>, BinaryReaderError> {
        let Some(owner) = find_memory_owner(component)? else { return Ok(None) };
        let Some(module) = component.get(owner.clone()) else { return Ok(None) };
        let Some((mut bytes, minimum)) = read_module_memory(module, bytes_max)? else { return Ok(None) };
        let Ok(minimum) = usize::try_from(minimum) else { return Ok(None) };
        let used = bytes.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
        bytes.resize(used.next_multiple_of(WASM_PAGE_BYTES), 0);
        Ok((!bytes.is_empty()).then_some(Self { owner, bytes, minimum }))
    }

    /// Returns the whole memory, zeros included.
    pub fn into_whole(mut self) -> Vec<u8> {
        self.bytes.resize(self.minimum, 0);
        self.bytes
    }
}

/// Finds the module that owns the component's only memory and lies directly inside the component.
pub fn find_memory_owner(component: &[u8]) -> Result<Option<Range<usize>>, BinaryReaderError> {
    let (mut depth, mut module, mut owner) = (0_u32, None, None);
    for payload in Parser::new(0).parse_all(component) {
        match payload? {
            Payload::Version { .. } => depth += 1,
            Payload::End(_) => depth = depth.saturating_sub(1),
            Payload::ModuleSection { unchecked_range, .. } => module = (depth == 1).then_some(unchecked_range),
            Payload::MemorySection(section) if section.count() > 0 => {
                if section.count() > 1 || owner.is_some() || module.is_none() {
                    return Ok(None);
                }
                owner = module.take();
            }
            _ => {}
        }
    }
    Ok(owner)
}

/// Returns the component with another module in place of the one at `owner`.
pub fn with_module(component: &[u8], owner: &Range<usize>, module: &[u8]) -> Result<Vec<u8>, BinaryReaderError> {
    let (mut depth, mut changed) = (0_u32, Component::new());
    for payload in Parser::new(0).parse_all(component) {
        let payload = payload?;
        match &payload {
            Payload::Version { .. } => depth += 1,
            Payload::End(_) => depth = depth.saturating_sub(1),
            _ => {}
        }
        if let Some((id, range)) = payload.as_section().filter(|_| depth == 1) {
            let data = if range == *owner { module } else { &component[range] };
            changed.section(&RawSection { id, data });
        }
    }
    Ok(changed.finish())
}

/// Returns the module's memory section with another initial number of pages.
pub fn build_memory_section(module: &[u8], pages: u64) -> Result<MemorySection, BinaryReaderError> {
    let mut section = MemorySection::new();
    for payload in Parser::new(0).parse_all(module) {
        let Payload::MemorySection(memories) = payload? else { continue };
        for memory in memories {
            let MemoryType { maximum, memory64, shared, page_size_log2, .. } = memory?;
            section.memory(wasm_encoder::MemoryType { minimum: pages, maximum, memory64, shared, page_size_log2 });
        }
    }
    Ok(section)
}

/// Returns the bytes of the module's memory and its size at the start, when both are known before the module runs.
fn read_module_memory(module: &[u8], bytes_max: u64) -> Result<Option<(Vec<u8>, u64)>, BinaryReaderError> {
    let (mut bytes, mut minimum) = (Vec::new(), 0);
    for payload in Parser::new(0).parse_all(module) {
        let is_plain = match payload? {
            Payload::ImportSection(imports) => {
                let mut is_plain = true;
                for import in imports.into_imports() {
                    is_plain &= !matches!(import?.ty, TypeRef::Memory(_));
                }
                is_plain
            }
            Payload::MemorySection(memories) => {
                for memory in memories {
                    minimum = compute_plain_bytes(&memory?).unwrap_or(0);
                }
                minimum > 0
            }
            Payload::CodeSectionEntry(body) => !uses_segments(&body)?,
            Payload::DataSection(segments) => {
                let mut is_plain = true;
                for segment in segments {
                    is_plain = is_plain && write_segment(&mut bytes, &segment?, minimum.min(bytes_max))?;
                }
                is_plain
            }
            _ => true,
        };
        if !is_plain {
            return Ok(None);
        }
    }
    Ok(Some((bytes, minimum)))
}

/// Returns the initial size of a memory that is 32-bit, unshared and of ordinary pages.
fn compute_plain_bytes(memory: &MemoryType) -> Option<u64> {
    let MemoryType { memory64: false, shared: false, initial, page_size_log2: None, .. } = memory else { return None };
    initial.checked_mul(WASM_PAGE_BYTES as u64).filter(|bytes| *bytes <= PLATFORM_MEMORY_BYTES_MAX)
}

/// Returns whether a function uses the module's data segments itself.
fn uses_segments(body: &FunctionBody<'_>) -> Result<bool, BinaryReaderError> {
    for operator in body.get_operators_reader()? {
        if matches!(operator?, Operator::MemoryInit { .. } | Operator::DataDrop { .. } | Operator::ArrayNewData { .. })
        {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Writes a segment to its place; returns `false` when the place is not a constant, or ends beyond `end_max`.
fn write_segment(memory: &mut Vec<u8>, segment: &Data<'_>, end_max: u64) -> Result<bool, BinaryReaderError> {
    let DataKind::Active { memory_index: 0, offset_expr } = &segment.kind else { return Ok(false) };
    let mut operators = offset_expr.get_operators_reader();
    let (Operator::I32Const { value }, Operator::End) = (operators.read()?, operators.read()?) else {
        return Ok(false);
    };
    let start = u64::from(value.cast_unsigned());
    let end = start + segment.data.len() as u64;
    let (Ok(from), Ok(to)) = (usize::try_from(start), usize::try_from(end)) else { return Ok(false) };
    if end > end_max {
        return Ok(false);
    }
    if memory.len() < to {
        memory.resize(to, 0);
    }
    memory[from..to].copy_from_slice(segment.data);
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_components_with_a_known_initial_memory_are_read() {
        let read = |text: &str| InitialMemory::read(&wat::parse_str(text).unwrap(), AUTHOR_MEMORY_BYTES_MAX).unwrap();
        let with = |module: &str| read(&format!("(component (core module {module}))"));
        let plain = "(memory 1) (data (i32.const 8) \"data\")";
        assert!(with(plain).is_some());
        for other in [
            "(memory 1)",
            "(memory 1) (data \"passive\")",
            "(memory 1) (data (i32.const 65533) \"data\")",
            "(memory 1) (global $at i32 i32.const 8) (data (global.get $at) \"data\")",
            "(memory 1) (data (i32.add (i32.const 8) (i32.const 8)) \"data\")",
            "(memory i64 1) (data (i64.const 8) \"data\")",
            "(memory 1 1 shared) (data (i32.const 8) \"data\")",
            "(memory 65536) (data (i32.const 8) \"data\")",
            "(memory 200) (data (i32.const 0x800000) \"data\")",
            "(memory 1) (memory 1) (data (i32.const 8) \"data\")",
            "(import \"\" \"\" (memory 1)) (data (i32.const 8) \"data\")",
            "(memory 1) (data $data (i32.const 8) \"data\") (func (data.drop $data))",
            "(memory 1) (data $data (i32.const 8) \"data\")
                (func (memory.init $data (i32.const 0) (i32.const 0) (i32.const 0)))",
        ] {
            assert!(with(other).is_none(), "{other}");
        }
        for nested in [
            format!("(component (component (core module {plain})))"),
            format!("(component (core module {plain}) (core module {plain}))"),
            format!("(component (core module {plain}) (component (core module (memory 1))))"),
        ] {
            assert!(read(&nested).is_none(), "{nested}");
        }
        assert!(InitialMemory::read(b"no component", AUTHOR_MEMORY_BYTES_MAX).is_err());
    }
}
