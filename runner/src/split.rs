//! Takes the memory that a component begins with out of it, so that it can be kept beside the code and mapped.
//!
//! That is for components of which one module owns one memory, and its data segments say what is in it: language images,
//! whose memory is a picture of an interpreter, and what compilers make of authors' code. Such a component means the same
//! without its segments, in a memory that holds their bytes already. What is of any other shape is left as it is.

use std::ops::Range;

use wasm_encoder::{Component, Module, RawSection};
use wasmparser::{BinaryReaderError, Data, DataKind, FunctionBody, MemoryType, Operator, Parser, Payload, TypeRef};

use crate::packed::PAGE_BYTES;

/// What a memory may be told to begin with: more than the Python image has, eight times over.
pub const PLATFORM_BYTES_MAX: u64 = 256 << 20;
/// The same of an author's component: a stack of a megabyte with a lot of data behind it. A byte at the end of a large memory
/// would make a large file.
pub const AUTHOR_BYTES_MAX: u64 = 8 << 20;

/// A component, and what its memory begins with: whole pages, and zeros behind them.
#[derive(Debug)]
pub struct Split {
    pub component: Vec<u8>,
    pub image: Vec<u8>,
    /// Bytes that the memory has at first.
    pub minimum: usize,
}

/// Takes the memory out, if the component has the shape for it and does not begin with more bytes than so many.
///
/// # Errors
/// When the bytes are no component.
pub fn split(component: &[u8], bytes_max: u64) -> Result<Option<Split>, BinaryReaderError> {
    let Some(owner) = owner(component)? else { return Ok(None) };
    let Some(module) = component.get(owner.clone()) else { return Ok(None) };
    let Some((mut image, minimum)) = image(module, bytes_max)? else { return Ok(None) };
    let Ok(minimum) = usize::try_from(minimum) else { return Ok(None) };
    let used = image.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
    image.resize(used.next_multiple_of(PAGE_BYTES), 0);
    if image.is_empty() {
        return Ok(None);
    }
    let component = with_module(component, &owner, &without_data(module)?)?;
    Ok(Some(Split { component, image, minimum }))
}

/// The module that has the one memory of the component, directly inside it.
pub(crate) fn owner(component: &[u8]) -> Result<Option<Range<usize>>, BinaryReaderError> {
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

/// The bytes of a module's memory, if they are known before it runs, and how many it has with zeros behind them.
fn image(module: &[u8], bytes_max: u64) -> Result<Option<(Vec<u8>, u64)>, BinaryReaderError> {
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
                    minimum = plain_bytes(&memory?).unwrap_or(0);
                }
                minimum > 0
            }
            Payload::CodeSectionEntry(body) => !names_segments(&body)?,
            Payload::DataSection(segments) => {
                let mut is_plain = true;
                for segment in segments {
                    is_plain = is_plain && place(&mut bytes, &segment?, minimum.min(bytes_max))?;
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

/// What a memory has at first, if it is one of 32 bits, of a single thread, with ordinary pages.
fn plain_bytes(memory: &MemoryType) -> Option<u64> {
    let MemoryType { memory64: false, shared: false, initial, page_size_log2: None, .. } = memory else { return None };
    initial.checked_mul(PAGE_BYTES as u64).filter(|bytes| *bytes <= PLATFORM_BYTES_MAX)
}

/// Whether a function uses the module's data segments itself.
fn names_segments(body: &FunctionBody<'_>) -> Result<bool, BinaryReaderError> {
    for operator in body.get_operators_reader()? {
        if matches!(operator?, Operator::MemoryInit { .. } | Operator::DataDrop { .. } | Operator::ArrayNewData { .. })
        {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Puts a segment where it belongs; `false` when its place is not known, or behind what the memory may begin with.
fn place(memory: &mut Vec<u8>, segment: &Data<'_>, end_max: u64) -> Result<bool, BinaryReaderError> {
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

fn without_data(module: &[u8]) -> Result<Vec<u8>, BinaryReaderError> {
    let mut rest = Module::new();
    for payload in Parser::new(0).parse_all(module) {
        let payload = payload?;
        let is_data = matches!(payload, Payload::DataSection(_) | Payload::DataCountSection { .. });
        if let Some((id, range)) = payload.as_section().filter(|_| !is_data) {
            rest.section(&RawSection { id, data: &module[range] });
        }
    }
    Ok(rest.finish())
}

/// The component with another module in place of the one at `place`.
pub(crate) fn with_module(component: &[u8], place: &Range<usize>, module: &[u8]) -> Result<Vec<u8>, BinaryReaderError> {
    let (mut depth, mut changed) = (0_u32, Component::new());
    for payload in Parser::new(0).parse_all(component) {
        let payload = payload?;
        match &payload {
            Payload::Version { .. } => depth += 1,
            Payload::End(_) => depth = depth.saturating_sub(1),
            _ => {}
        }
        if let Some((id, range)) = payload.as_section().filter(|_| depth == 1) {
            let data = if range == *place { module } else { &component[range] };
            changed.section(&RawSection { id, data });
        }
    }
    Ok(changed.finish())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use wasm_encoder::{ConstExpr, DataCountSection, DataSection, MemorySection, ModuleSection};

    use super::*;

    const PAGES: u64 = 4;

    /// A component with one module: a memory of four pages and these segments.
    fn component(segments: &[(u32, Vec<u8>)]) -> Vec<u8> {
        let mut memories = MemorySection::new();
        let memory = wasm_encoder::MemoryType {
            minimum: PAGES,
            maximum: None,
            memory64: false,
            shared: false,
            page_size_log2: None,
        };
        memories.memory(memory);
        let mut data = DataSection::new();
        for (at, bytes) in segments {
            data.active(0, &ConstExpr::i32_const(at.cast_signed()), bytes.iter().copied());
        }
        let mut module = Module::new();
        module.section(&memories).section(&DataCountSection { count: data.len() }).section(&data);
        let mut component = Component::new();
        component.section(&ModuleSection(&module));
        component.finish()
    }

    fn segments(component: &[u8]) -> u32 {
        wasmparser::Validator::new().validate_all(component).unwrap();
        let count = |payload: Result<Payload<'_>, _>| match payload.unwrap() {
            Payload::DataSection(section) => section.count(),
            _ => 0,
        };
        Parser::new(0).parse_all(component).map(count).sum()
    }

    proptest! {
        #[test]
        fn a_component_and_its_image_are_what_it_was(
            segments in prop::collection::vec((0..200_000_u32, prop::collection::vec(any::<u8>(), 0..60_000)), 0..8),
        ) {
            let mut memory = vec![0; PAGES as usize * PAGE_BYTES];
            for (at, bytes) in &segments {
                memory[*at as usize..][..bytes.len()].copy_from_slice(bytes);
            }
            match split(&component(&segments), PLATFORM_BYTES_MAX).unwrap() {
                None => prop_assert!(memory.iter().all(|byte| *byte == 0)),
                Some(Split { component, image, minimum }) => {
                    prop_assert_eq!(minimum, memory.len());
                    prop_assert_eq!(self::segments(&component), 0);
                    prop_assert!(memory[..image.len()] == image && memory[image.len()..].iter().all(|byte| *byte == 0));
                    prop_assert!(image.len() % PAGE_BYTES == 0 && image[image.len() - PAGE_BYTES..].iter().any(|byte| *byte != 0));
                }
            }
        }
    }

    #[test]
    fn only_what_is_known_to_mean_the_same_is_split() {
        let text = |module: &str| {
            split(&wat::parse_str(format!("(component (core module {module}))")).unwrap(), AUTHOR_BYTES_MAX).unwrap()
        };
        let plain = "(memory 1) (data (i32.const 8) \"data\")";
        assert!(text(plain).is_some());
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
            assert!(text(other).is_none(), "{other}");
        }
        let whole = |text: String| split(&wat::parse_str(text).unwrap(), AUTHOR_BYTES_MAX).unwrap();
        assert!(whole(format!("(component (component (core module {plain})))")).is_none());
        assert!(whole(format!("(component (core module {plain}) (core module {plain}))")).is_none());
        assert!(whole(format!("(component (core module {plain}) (component (core module (memory 1))))")).is_none());
        assert!(split(b"no component", AUTHOR_BYTES_MAX).is_err());
    }

    #[test]
    fn the_python_image_is_split() {
        let component = python_image::component().unwrap();
        let Split { component: rest, image, .. } = split(&component, PLATFORM_BYTES_MAX).unwrap().unwrap();
        assert_eq!((segments(&rest), split(&rest, PLATFORM_BYTES_MAX).unwrap().is_none()), (0, true));
        assert!(image.len() > 1 << 20 && rest.len() < component.len());
        println!("an image of {} KiB", image.len() >> 10);
    }
}
