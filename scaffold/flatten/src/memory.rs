//! Rewrites the data segments of a module.

use anyhow::{Context, Result, bail, ensure};
use wasm_encoder::{ConstExpr, DataCountSection, DataSection, Module, RawSection};
use wasmparser::{Data, DataKind, Operator, Parser, Payload};

/// Size of the pages of zeros that separate segments. Shorter runs of zeros stay in a segment, since a few zeros cost less
/// than another segment.
const PAGE_BYTES: usize = 4 << 10;

/// Returns the module with `edit` applied to its initial memory.
///
/// # Errors
/// When `edit` fails, or the module initialises memory at run time, with passive segments.
pub fn rewrite(module: &[u8], edit: impl FnOnce(&mut [u8]) -> Result<()>) -> Result<Vec<u8>> {
    let mut memory = Vec::new();
    for payload in Parser::new(0).parse_all(module) {
        if let Payload::DataSection(segments) = payload? {
            segments.into_iter().try_for_each(|segment| place(&mut memory, &segment?))?;
        }
    }
    edit(&mut memory)?;
    let segments = segments(&memory)?;
    let mut rewritten = Module::new();
    for payload in Parser::new(0).parse_all(module) {
        let payload = payload?;
        match (&payload, payload.as_section()) {
            (Payload::DataCountSection { .. }, _) => {
                rewritten.section(&DataCountSection { count: segments.len() });
            }
            (Payload::DataSection(_), _) => {
                rewritten.section(&segments);
            }
            (_, Some((id, range))) => {
                let data = module.get(range).context("a section outside the module")?;
                rewritten.section(&RawSection { id, data });
            }
            _ => {}
        }
    }
    Ok(rewritten.finish())
}

fn place(memory: &mut Vec<u8>, segment: &Data<'_>) -> Result<()> {
    let DataKind::Active { memory_index: 0, offset_expr } = &segment.kind else {
        bail!("a data segment that is not part of the initial memory");
    };
    let Operator::I32Const { value } = offset_expr.get_operators_reader().read()? else {
        bail!("a data segment's place is not constant");
    };
    let start = value.cast_unsigned() as usize;
    let end = start + segment.data.len();
    if memory.len() < end {
        memory.resize(end, 0);
    }
    memory[start..end].copy_from_slice(segment.data);
    Ok(())
}

fn segments(memory: &[u8]) -> Result<DataSection> {
    let mut section = DataSection::new();
    let mut pages = memory.chunks(PAGE_BYTES).enumerate().peekable();
    let is_zero = |page: &[u8]| page.iter().all(|byte| *byte == 0);
    while let Some((index, first)) = pages.next() {
        if is_zero(first) {
            continue;
        }
        let mut bytes = first.to_vec();
        while let Some((_, page)) = pages.next_if(|(_, page)| !is_zero(page)) {
            bytes.extend_from_slice(page);
        }
        let start = i32::try_from(index * PAGE_BYTES)?;
        section.active(0, &ConstExpr::i32_const(start), bytes);
    }
    ensure!(!section.is_empty(), "the module has no data");
    Ok(section)
}
