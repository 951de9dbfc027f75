//! Links the functions that tools import.

use wasmtime::Engine;
use wasmtime::component::Linker;
use wasmtime_wasi::p2::bindings::{clocks, random};
use wasmtime_wasi_io::bindings::wasi::io::poll;

use super::host_call::{HostCall, HostCallData, begin};
use super::state::Host;
use crate::sandbox::bindings::image::lathe::tool::bundle;
use crate::sandbox::bindings::tool::lathe::tool;

/// Links the imports of the worlds in `scaffold/wit`, and nothing else.
///
/// # Errors
/// When two of them have one name.
pub fn build_linker(engine: &Engine) -> wasmtime::Result<Linker<Host>> {
    let mut linker = Linker::new(engine);
    wasmtime_wasi::p2::add_to_linker_async(&mut linker)?;
    // Functions whose results differ between runs are our own, so that a tape can answer them.
    linker.allow_shadowing(true);
    poll::add_to_linker::<_, HostCallData>(&mut linker, begin)?;
    clocks::wall_clock::add_to_linker::<_, HostCallData>(&mut linker, begin)?;
    clocks::monotonic_clock::add_to_linker::<_, HostCallData>(&mut linker, begin)?;
    random::random::add_to_linker::<_, HostCallData>(&mut linker, begin)?;
    random::insecure::add_to_linker::<_, HostCallData>(&mut linker, begin)?;
    random::insecure_seed::add_to_linker::<_, HostCallData>(&mut linker, begin)?;
    linker.allow_shadowing(false);
    tool::status::add_to_linker::<_, HostCallData>(&mut linker, begin)?;
    tool::http::add_to_linker::<_, HostCallData>(&mut linker, begin)?;
    tool::content::add_to_linker::<_, HostCallData>(&mut linker, begin)?;
    tool::log::add_to_linker::<_, HostCallData>(&mut linker, begin)?;
    tool::tools::add_to_linker::<_, HostCallData>(&mut linker, begin)?;
    tool::interaction::add_to_linker::<_, HostCallData>(&mut linker, begin)?;
    bundle::add_to_linker::<_, HostCallData>(&mut linker, begin)?;
    Ok(linker)
}

impl bundle::Host for HostCall<'_> {
    async fn load(&mut self) -> Vec<u8> {
        self.bundle.to_vec()
    }
}
