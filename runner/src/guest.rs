//! Components ready to be instantiated, by digest.

use std::fs::File;
use std::sync::Arc;

use dashmap::DashMap;
use registry::Digest;
use wasmtime::Engine;
use wasmtime::component::{Component, Linker};

use crate::Error;
use crate::bindings::tool::ToolPre;
use crate::codes::Codes;
use crate::engine::{self, Room};
use crate::host::{self, Host};
use crate::mapped::Native;
use crate::slots::{Idle, Image, Pagemap, Slots, Stacks};
use crate::ticker::Ticker;

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
    images: Images,
    codes: Option<Codes>,
    prepared: Arc<DashMap<Digest, Arc<Prepared>>>,
    /// Why something that was to be loaded can be no tool.
    rejected: Arc<DashMap<Digest, String>>,
}

impl Components {
    /// Without a cache there is only what [`Components::load`] is given.
    pub(crate) fn new(engine: &Engine, images: Images, codes: Option<Codes>) -> Result<Self, Error> {
        Ok(Self {
            linker: Arc::new(host::linker(engine).map_err(Error::engine)?),
            engine: engine.clone(),
            images,
            codes,
            prepared: Arc::default(),
            rejected: Arc::default(),
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
        if let Some(reason) = self.rejected.get(digest) {
            return Err(Error::rejected(reason.clone()));
        }
        let codes = self.codes.as_ref().ok_or_else(|| Error::internal(format!("{digest} is not loaded")))?;
        let code = codes.get(digest)?;
        // SAFETY: this process's key signed it, in a directory that only this user can write, and it is sealed since.
        let prepared = unsafe { self.prepare(code.file(), code.bytes()) };
        let prepared = prepared.inspect_err(|error| tracing::warn!(%digest, %error, "a component cannot be loaded"))?;
        Ok(self.keep(digest, prepared))
    }

    /// Loads code that another process has verified. What can be no tool says so to every run of it.
    ///
    /// # Errors
    /// As [`Components::get`].
    ///
    /// # Safety
    /// As for [`Native::map`].
    pub(crate) unsafe fn load(&self, digest: &Digest, code: &File, bytes: u64) -> Result<(), Error> {
        // SAFETY: the caller's promise.
        let prepared = unsafe { self.prepare(code, bytes) };
        if let Err(Error::Rejected { reason }) = &prepared {
            self.rejected.insert(*digest, reason.clone());
        }
        self.keep(digest, prepared?);
        Ok(())
    }

    /// Drops all that no run uses.
    pub(crate) fn forget(&self) {
        self.prepared.clear();
        self.rejected.clear();
    }

    fn keep(&self, digest: &Digest, prepared: Prepared) -> Arc<Prepared> {
        let prepared = Arc::new(prepared);
        if self.prepared.len() >= PREPARED_MAX {
            self.prepared.clear();
        }
        self.prepared.insert(*digest, prepared.clone());
        prepared
    }

    /// # Safety
    /// As for [`Native::map`].
    unsafe fn prepare(&self, code: &File, bytes: u64) -> Result<Prepared, Error> {
        // SAFETY: the caller's promise.
        let mut native = unsafe { Native::map(code, bytes) }?;
        // What has no place in the pool has none elsewhere.
        let pooled = native.component(&self.engine)?;
        let Some(image) = native.image() else { return link(&self.linker, &pooled) };
        drop(pooled);
        let engine = self.images.engine(image)?;
        link(&host::linker(&engine).map_err(Error::engine)?, &native.component(&engine)?)
    }
}

/// Makes an engine for each image, all of one kind.
#[derive(Clone)]
pub struct Images {
    pub room: Room,
    pub pagemap: Option<Arc<Pagemap>>,
    pub stacks: Stacks,
    pub idle: Idle,
    pub ticker: Ticker,
}

impl Images {
    fn engine(&self, image: Image) -> Result<Engine, Error> {
        let Self { room, pagemap, stacks, idle, ticker } = self;
        let slots = Slots::new(image, *room, pagemap.clone(), idle.clone());
        let engine = engine::of_image(slots, stacks.clone()).map_err(Error::engine)?;
        ticker.add(&engine);
        Ok(engine)
    }
}

fn link(linker: &Linker<Host>, component: &Component) -> Result<Prepared, Error> {
    ToolPre::new(linker.instantiate_pre(component).map_err(misfit)?).map_err(misfit)
}

#[expect(clippy::needless_pass_by_value, reason = "the shape that map_err wants")]
fn misfit(error: wasmtime::Error) -> Error {
    Error::rejected(format!("{error:#}"))
}
