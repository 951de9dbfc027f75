//! Merges the linked core modules of a component into one.
//!
//! An interpreter built from shared libraries is a component of a dozen core modules that share an imported memory
//! and an imported table. An engine cannot initialise an imported table in advance, so every instantiation fills it one
//! function at a time. In a single module the table is local, and the engine initialises it when the component is compiled.
//! Merging also removes functions and globals that no export and no table entry reaches, and replaces globals that are
//! never written by constants.
//!
//! The input is the output of shared-everything linking after its start functions have run: every core module is
//! instantiated at most once, has no start function, and calls the host only through lowered functions.

mod component;
mod constant;
pub mod heap;
pub mod immortal;
mod memory;
mod merge;
mod module;
mod plan;
mod reach;
mod renumber;
mod sources;
mod word;

use anyhow::{Context, Result};
use wit_component::{ComponentEncoder, DecodedWasm, StringEncoding, decode, embed_component_metadata};

/// The highest compression level of zstd: an image is compressed once and decompressed often.
const ZSTD_LEVEL: i32 = 22;
/// The largest window that decompressors accept by default.
const WINDOW_LOG: u32 = 27;

/// Returns the component with its linked core modules merged into one, and with `edit` applied to its initial memory.
///
/// # Errors
/// When the component is not the output of shared-everything linking, or `edit` fails.
pub fn flatten(component: &[u8], edit: impl FnOnce(&mut [u8]) -> Result<()>) -> Result<Vec<u8>> {
    let parsed = component::Component::parse(component)?;
    let sources = sources::Sources::resolve(&parsed)?;
    let reach = reach::Reach::walk(&parsed, &sources)?;
    let plan = plan::Plan::make(&parsed, &sources, &reach)?;
    let module = memory::rewrite(&merge::merge(&plan)?, edit)?;
    wrap(component, module).context("the merged module does not make the same component")
}

/// Makes a component of `module` with the world of `component`.
fn wrap(component: &[u8], mut module: Vec<u8>) -> Result<Vec<u8>> {
    let DecodedWasm::Component(resolve, world) = decode(component)? else {
        anyhow::bail!("not a component");
    };
    embed_component_metadata(&mut module, &resolve, world, StringEncoding::UTF8)?;
    ComponentEncoder::default().validate(true).module(&module)?.encode()
}

/// Compresses an image for the repository.
///
/// # Errors
/// When the compressor cannot allocate its memory.
pub fn pack(image: &[u8]) -> Result<Vec<u8>> {
    let mut packed = zstd::bulk::Compressor::new(ZSTD_LEVEL)?;
    packed.long_distance_matching(true)?;
    packed.window_log(WINDOW_LOG)?;
    Ok(packed.compress(image)?)
}
