//! Memories kept from one run to the next, and code and initial memory mapped from one file.
//!
//! The engine's pool discards a whole memory when a run ends, clean pages included, and the next run finds them again with a
//! page fault each. Here a run's memory is a **slot**: a private mapping of the image (the memory that the component begins
//! with), straight from the sealed file in which the compiled code lies, followed by zeros. When the run ends, the pages
//! that it wrote are restored from the image, all others stay as they are, and memory that it grew by is discarded. The next
//! run finds a memory that equals a new one, with its pages in place. `docs/explanation/performance.md` has the figures.
//!
//! Runs cannot see bytes of one another, for these reasons. A slot is reset before any run can have it again
//! (`SlotAllocator::put` is the only way back). The kernel tells from its page table which pages were written to, and every
//! page in doubt counts as written (`pagemap.rs` lists the states of a page). Where the kernel does not tell (before Linux
//! 6.7, or without access), or a run has written much, the whole memory is discarded, as the engine's pool does. A slot whose
//! reset fails in part is unmapped. Debug builds compare each slot with its image after each reset.
//!
//! One engine serves one image, because a `MemoryCreator` receives a memory's size and not the module that asks. Components
//! whose initial memory is not known stay in the engine's pool.
//!
//! # When to delete this module
//!
//! Wasmtime can ask the kernel for written pages itself, but its scan has two faults in the releases up to 49: it stops when
//! its buffer of regions is full, and it leaves out pages in swap, which are not present and yet written to. Wasmtime 50 fixes
//! both, and asks for Rust 1.97. Then one commit deletes this module:
//!
//! - `compile.rs`: [`compile`] becomes `Engine::precompile_component`. [`SharedCode`] goes, so that each snapshot is compiled.
//! - `loaded_components.rs`, `guest_runtime.rs`: all components are loaded into the pool ([`build_pool_engine`] without `configure`), with
//!   `PoolingAllocationConfig::pagemap_scan` enabled. The confinement must still allow the engine's `PAGEMAP_SCAN`.
//! - [`MappedCode`] and [`check`]: `Component` needs what `Module::deserialize_open_file` does, which Wasmtime 48 lacks. Without
//!   it, `mapped_code.rs` stays.
//! - `interpreter.rs`: snapshots and stack traces need `read_next`, which becomes a `MemoryCreator` that copies memories on drop.
//! - `code/cache.rs`: `FORMAT` changes, since the files do.

mod code_file;
mod idle_slots;
mod mapped_code;
mod memory_image;
mod memory_refusals;
mod pagemap;
mod reservation;
mod shared_code;
mod slot;
mod slot_allocator;
mod split;
mod stack_pool;

use std::fs::File;
use std::sync::Arc;

use wasmtime::Engine;

use crate::Error;
use crate::sandbox::engine::{self, EngineCapacity};
pub use mapped_code::MappedCode;
pub use memory_refusals::MemoryRefusals;
pub use pagemap::{PAGEMAP_SCAN, Pagemap};
pub use shared_code::SharedCode;
pub use slot_allocator::SlotAllocator;
use slot_allocator::SlotReuse;
use stack_pool::StackPool;

/// State shared by all components of a process.
#[derive(Clone)]
pub struct MemoryReuse {
    capacity: EngineCapacity,
    slots: SlotReuse,
    stacks: StackPool,
}

/// Engine of one image. All memories of its instances begin with the image.
pub struct ImageEngine {
    pub engine: Engine,
    pub memories: SlotAllocator,
}

impl MemoryReuse {
    /// Creates the state of a process. Without a page map, whole memories are discarded after each run.
    pub fn new(capacity: EngineCapacity, pagemap: Option<Pagemap>) -> Self {
        let slots = SlotReuse { pagemap: pagemap.map(Arc::new), ..SlotReuse::default() };
        Self { capacity, slots, stacks: StackPool::default() }
    }

    /// Makes an engine for a component with a memory image of its own. `None` for a component that uses the pooling allocator.
    ///
    /// # Errors
    /// `Internal` when the engine's settings do not fit the machine.
    pub fn build_engine(&self, code: &mut MappedCode) -> Result<Option<ImageEngine>, Error> {
        let Some(image) = code.take_image() else { return Ok(None) };
        let Self { capacity, slots, stacks } = self.clone();
        let memories = SlotAllocator::new(image, capacity, slots);
        let mut config = engine::build_on_demand_config();
        mapped_code::configure(&mut config);
        config.with_host_memory(Arc::new(memories.clone())).with_host_stack(Arc::new(stacks));
        Ok(Some(ImageEngine { engine: Engine::new(&config).map_err(Error::engine)?, memories }))
    }
}

/// Makes the engine that allocates instances from a pool: the plain way, for all components without an image.
///
/// # Errors
/// `Internal` when the settings do not fit the machine.
pub fn build_pool_engine(capacity: EngineCapacity) -> Result<Engine, Error> {
    let mut config = engine::build_pool_config(capacity);
    mapped_code::configure(&mut config);
    Engine::new(&config).map_err(Error::engine)
}

/// Compiles a component. Its initial memory lies beside the code, when it is known and has at most `memory_bytes_max` bytes.
///
/// # Errors
/// `Rejected` when the component is invalid or uses a disabled feature.
pub fn compile(component: &[u8], memory_bytes_max: u64) -> Result<Vec<u8>, Error> {
    let engine = build_pool_engine(EngineCapacity::new(1))?;
    let split = split::split(component, memory_bytes_max).map_err(|error| Error::rejected(error.to_string()))?;
    let (component, image) = split.as_ref().map_or((component, &[][..]), |split| (&split.component, &split.image));
    let code = engine.precompile_component(component).map_err(|error| Error::rejected(format!("{error:#}")))?;
    Ok(code_file::pack(code, image))
}

/// Checks that this release can load a code file on this machine, whatever the pool has capacity for.
///
/// # Errors
/// When another release made it, or it needs features that the processor lacks.
///
/// # Safety
/// The compiler of some release must have made the file.
pub unsafe fn check(code: &File) -> Result<(), Error> {
    let bytes = code.metadata().map_err(|error| Error::internal(error.to_string()))?.len();
    let mut config = engine::build_on_demand_config();
    mapped_code::configure(&mut config);
    let engine = Engine::new(&config).map_err(Error::engine)?;
    // SAFETY: the caller's promise.
    unsafe { MappedCode::map(code, bytes) }?.load_component(&engine).map(drop)
}
