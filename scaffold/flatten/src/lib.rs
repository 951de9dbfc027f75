//! Merges the linked core modules of a component into one.
//!
//! An interpreter built from shared libraries is a component of a dozen core modules which share an imported memory
//! and an imported table. Instantiating it fills that table one function at a time, on every run, because an engine
//! cannot prepare a table that is imported. In one module the table is local, and preparing it happens when the
//! component is compiled. What no export and no table entry can reach is left out on the way, and globals that
//! nothing writes become constants.
//!
//! The input is what shared-everything linking gives after its start functions have run: every core module is
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

/// The highest level.
const ZSTD_LEVEL: i32 = 22;
/// The largest window that a reader takes without being told of it.
const WINDOW_LOG: u32 = 27;

/// The same component with one core module in place of its linked ones, and with the initial memory that `edit` makes of
/// its own.
///
/// # Errors
/// When the component is not one that linking gives, or `edit` fails.
pub fn flatten(component: &[u8], edit: impl FnOnce(&mut [u8]) -> Result<()>) -> Result<Vec<u8>> {
    let parsed = component::Component::parse(component)?;
    let sources = sources::Sources::resolve(&parsed)?;
    let reach = reach::Reach::walk(&parsed, &sources)?;
    let plan = plan::Plan::make(&parsed, &sources, &reach)?;
    let module = memory::rewrite(&merge::merge(&plan)?, edit)?;
    wrap(component, module).context("the merged module does not make the same component")
}

/// Makes a component of `module`, with the world that `component` has.
fn wrap(component: &[u8], mut module: Vec<u8>) -> Result<Vec<u8>> {
    let DecodedWasm::Component(resolve, world) = decode(component)? else {
        anyhow::bail!("not a component");
    };
    embed_component_metadata(&mut module, &resolve, world, StringEncoding::UTF8)?;
    ComponentEncoder::default().validate(true).module(&module)?.encode()
}

/// Compresses an image as small as zstd makes it: it is packed once and lies in the repository.
///
/// # Errors
/// When memory for the compressor is missing.
pub fn pack(image: &[u8]) -> Result<Vec<u8>> {
    let mut packed = zstd::bulk::Compressor::new(ZSTD_LEVEL)?;
    packed.long_distance_matching(true)?;
    packed.window_log(WINDOW_LOG)?;
    Ok(packed.compress(image)?)
}
