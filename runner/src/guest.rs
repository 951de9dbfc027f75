//! Components ready to be instantiated, by digest.

use std::sync::Arc;

use dashmap::DashMap;
use registry::Digest;
use wasmtime::Engine;
use wasmtime::component::{Component, Linker};

use crate::Error;
use crate::bindings::tool::ToolPre;
use crate::cache::Compiled;
use crate::host::{self, Host};

/// More images than this at once would be a leak, not a working set.
const PREPARED_MAX: usize = 256;

/// A component with its imports resolved and its export's type checked:
/// instantiating it is all that is left.
pub type Prepared = ToolPre<Host>;

/// The components that this process has loaded.
#[derive(Clone)]
pub struct Components {
    engine: Engine,
    linker: Arc<Linker<Host>>,
    compiled: Compiled,
    prepared: Arc<DashMap<Digest, Arc<Prepared>>>,
}

impl Components {
    pub(crate) fn new(engine: &Engine, compiled: Compiled) -> Result<Self, Error> {
        Ok(Self {
            linker: Arc::new(host::linker(engine).map_err(Error::engine)?),
            engine: engine.clone(),
            compiled,
            prepared: Arc::default(),
        })
    }

    /// The component, loaded from the cache of compiled code on first use.
    ///
    /// # Errors
    /// `Internal` when its code was never compiled here or does not verify, `Rejected` when it can be no tool: it does
    /// not fit into the engine's pool, imports what is not there, or does not export `run-tool`.
    pub fn get(&self, digest: &Digest) -> Result<Arc<Prepared>, Error> {
        if let Some(found) = self.prepared.get(digest) {
            return Ok(found.clone());
        }
        let component = self.compiled.load(&self.engine, digest)?;
        let prepared = Arc::new(self.prepare(&component)?);
        if self.prepared.len() >= PREPARED_MAX {
            self.prepared.clear();
        }
        self.prepared.insert(*digest, prepared.clone());
        Ok(prepared)
    }

    fn prepare(&self, component: &Component) -> Result<Prepared, Error> {
        let instance = self.linker.instantiate_pre(component).map_err(misfit)?;
        ToolPre::new(instance).map_err(misfit)
    }
}

#[expect(clippy::needless_pass_by_value, reason = "the shape that map_err wants")]
fn misfit(error: wasmtime::Error) -> Error {
    Error::rejected(format!("{error:#}"))
}
