//! Components that this process has loaded, ready to be instantiated, by digest.

use std::fs::File;
use std::sync::Arc;

use dashmap::DashMap;
use registry::Digest;
use wasmtime::Engine;
use wasmtime::component::{Component, Linker};

use crate::Error;
use crate::sandbox::bindings::tool::ToolPre;
use crate::sandbox::code::CodeStore;
use crate::sandbox::engine::Ticker;
use crate::sandbox::host::{self, Host};
use crate::sandbox::memory_reuse::{ImageEngine, MappedCode, MemoryReuse, SlotAllocator};

/// Loaded components. More would be a leak, not a working set.
const LOADED_MAX: usize = 256;

/// A component with resolved imports and a checked export, ready to be instantiated.
pub struct LoadedComponent {
    pub tool: ToolPre<Host>,
    /// The memories of the engine of an image.
    pub memories: Option<SlotAllocator>,
}

/// The loaded components of a process. Clones share them.
#[derive(Clone)]
pub struct LoadedComponents {
    linker: Arc<Linker<Host>>,
    engines: Engines,
    codes: Option<CodeStore>,
    loaded: Arc<DashMap<Digest, Arc<LoadedComponent>>>,
    /// Reasons for which components cannot be tools.
    rejected: Arc<DashMap<Digest, String>>,
}

/// Engines into which components are loaded.
#[derive(Clone)]
pub struct Engines {
    pub pool: Engine,
    pub memory_reuse: MemoryReuse,
    pub ticker: Ticker,
}

impl LoadedComponents {
    /// Without a store of compiled code, [`LoadedComponents::load`] is the only source of components.
    pub(crate) fn new(engines: Engines, codes: Option<CodeStore>) -> Result<Self, Error> {
        Ok(Self {
            linker: Arc::new(host::build_linker(&engines.pool).map_err(Error::engine)?),
            engines,
            codes,
            loaded: Arc::default(),
            rejected: Arc::default(),
        })
    }

    /// Returns the component, loaded from the store of compiled code on first use.
    ///
    /// # Errors
    /// `Internal` when its code was never compiled here or does not verify. `Rejected` when it cannot be a tool: it does not
    /// fit into the engine's pool, imports what the host lacks, or does not export `run-tool`.
    pub fn get(&self, digest: &Digest) -> Result<Arc<LoadedComponent>, Error> {
        if let Some(found) = self.loaded.get(digest) {
            return Ok(found.clone());
        }
        if let Some(reason) = self.rejected.get(digest) {
            return Err(Error::rejected(reason.clone()));
        }
        let codes = self.codes.as_ref().ok_or_else(|| Error::internal(format!("{digest} is not loaded")))?;
        let code = codes.get(digest)?;
        // SAFETY: this process's key signed the code, in a directory that only this user can write, and it is sealed since.
        let loaded = unsafe { self.link(code.file(), code.bytes()) };
        let loaded = loaded.inspect_err(|error| tracing::warn!(%digest, %error, "a component cannot be loaded"))?;
        Ok(self.keep(digest, loaded))
    }

    /// Loads code that another process has verified. A component that cannot be a tool is remembered, and fails its runs.
    ///
    /// # Errors
    /// As [`LoadedComponents::get`].
    ///
    /// # Safety
    /// As for [`MappedCode::map`].
    pub(crate) unsafe fn load(&self, digest: &Digest, code: &File, bytes: u64) -> Result<(), Error> {
        // SAFETY: the caller's promise.
        let loaded = unsafe { self.link(code, bytes) };
        if let Err(Error::Rejected { reason }) = &loaded {
            self.rejected.insert(*digest, reason.clone());
        }
        self.keep(digest, loaded?);
        Ok(())
    }

    /// Drops all components that no run uses.
    pub(crate) fn forget(&self) {
        self.loaded.clear();
        self.rejected.clear();
    }

    fn keep(&self, digest: &Digest, loaded: LoadedComponent) -> Arc<LoadedComponent> {
        let loaded = Arc::new(loaded);
        if self.loaded.len() >= LOADED_MAX {
            self.loaded.clear();
        }
        self.loaded.insert(*digest, loaded.clone());
        loaded
    }

    /// # Safety
    /// As for [`MappedCode::map`].
    unsafe fn link(&self, code: &File, bytes: u64) -> Result<LoadedComponent, Error> {
        let Engines { pool, memory_reuse, ticker } = &self.engines;
        // SAFETY: the caller's promise.
        let mut code = unsafe { MappedCode::map(code, bytes) }?;
        // A component that does not fit into the pool is refused, whichever engine would run it.
        let pooled = code.load_component(pool)?;
        let Some(ImageEngine { engine, memories }) = memory_reuse.build_engine(&mut code)? else {
            return Ok(LoadedComponent { tool: link(&self.linker, &pooled)?, memories: None });
        };
        // Wasmtime panics when a mapping is loaded into a second engine while the first has it.
        drop(pooled);
        ticker.add(&engine);
        let tool = link(&host::build_linker(&engine).map_err(Error::engine)?, &code.load_component(&engine)?)?;
        Ok(LoadedComponent { tool, memories: Some(memories) })
    }
}

fn link(linker: &Linker<Host>, component: &Component) -> Result<ToolPre<Host>, Error> {
    ToolPre::new(linker.instantiate_pre(component).map_err(reject)?).map_err(reject)
}

#[expect(clippy::needless_pass_by_value, reason = "the shape that map_err wants")]
fn reject(error: wasmtime::Error) -> Error {
    Error::rejected(format!("{error:#}"))
}
