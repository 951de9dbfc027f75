//! Separates a component from its initial memory, so that the memory can be stored beside the code and mapped.
//!
//! The component without its data segments, in a memory that already holds their bytes, behaves as the original does.

use wasm_encoder::{Module, RawSection};
use wasmparser::{BinaryReaderError, Parser, Payload};

use crate::sandbox::code::component_memory::{InitialMemory, with_module};

/// A component without data segments, and its initial memory.
#[derive(Debug)]
pub struct SplitComponent {
    pub component: Vec<u8>,
    /// Whole pages, up to the last one that is not zero.
    pub image: Vec<u8>,
    /// Size of the memory at the start; the rest is zeros.
    pub minimum: usize,
}

/// Separates the initial memory; `None` when it is not known ([`InitialMemory::read`]).
///
/// # Errors
/// When the bytes are not a component.
pub fn split(component: &[u8], bytes_max: u64) -> Result<Option<SplitComponent>, BinaryReaderError> {
    let Some(memory) = InitialMemory::read(component, bytes_max)? else { return Ok(None) };
    let InitialMemory { owner, bytes: image, minimum } = memory;
    let component = with_module(component, &owner, &without_data(&component[owner.clone()])?)?;
    Ok(Some(SplitComponent { component, image, minimum }))
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use wasm_encoder::{Component, ConstExpr, DataCountSection, DataSection, MemorySection, ModuleSection};

    use super::*;
    use crate::sandbox::code::component_memory::{PLATFORM_MEMORY_BYTES_MAX, WASM_PAGE_BYTES};

    const PAGES: u64 = 4;

    /// Returns a component of one module that has a memory of four pages and these segments.
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
        fn the_parts_have_all_data_of_the_component(
            segments in prop::collection::vec((0..200_000_u32, prop::collection::vec(any::<u8>(), 0..60_000)), 0..8),
        ) {
            let mut memory = vec![0; PAGES as usize * WASM_PAGE_BYTES];
            for (at, bytes) in &segments {
                memory[*at as usize..][..bytes.len()].copy_from_slice(bytes);
            }
            match split(&component(&segments), PLATFORM_MEMORY_BYTES_MAX).unwrap() {
                None => prop_assert!(memory.iter().all(|byte| *byte == 0)),
                Some(SplitComponent { component, image, minimum }) => {
                    prop_assert_eq!(minimum, memory.len());
                    prop_assert_eq!(self::segments(&component), 0);
                    prop_assert!(memory[..image.len()] == image && memory[image.len()..].iter().all(|byte| *byte == 0));
                    prop_assert!(image.len() % WASM_PAGE_BYTES == 0 && image[image.len() - WASM_PAGE_BYTES..].iter().any(|byte| *byte != 0));
                }
            }
        }
    }

    #[test]
    fn the_python_image_can_be_split() {
        let component = python_image::component().unwrap();
        let SplitComponent { component: rest, image, .. } =
            split(&component, PLATFORM_MEMORY_BYTES_MAX).unwrap().unwrap();
        assert_eq!((segments(&rest), split(&rest, PLATFORM_MEMORY_BYTES_MAX).unwrap().is_none()), (0, true));
        assert!(image.len() > 1 << 20 && rest.len() < component.len());
        println!("an image of {} KiB", image.len() >> 10);
    }
}
