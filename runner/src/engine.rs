//! The engine: which features guests get, and how instances are allocated.

use std::fs::File;
use std::num::NonZeroUsize;
use std::sync::Arc;

use wasmtime::{Config, Engine, InstanceAllocationStrategy, OptLevel, PoolingAllocationConfig, Result, Strategy};

use crate::mapped::{self, Native};
use crate::slots::{STACK_BYTES_KEPT, Slots, Stacks};
use crate::{Error, Limits};

/// A run deeper than this traps; the host keeps the rest of the fiber's stack.
const WASM_STACK_BYTES: usize = 512 << 10;
const ASYNC_STACK_BYTES: usize = 2 << 20;
/// An interpreter's stack trace is deep and tells an author little.
const BACKTRACE_FRAMES: usize = 32;

/// Core instances of one component: the Python image has about thirty.
const CORE_INSTANCES_PER_COMPONENT: u32 = 64;
const TABLES_PER_COMPONENT: u32 = 16;
const MEMORIES_PER_COMPONENT: u32 = 4;
/// The Python image's shared table has about 6,000 elements.
const TABLE_ELEMENTS: usize = 20_000;
const INSTANCE_BYTES: usize = 1 << 20;
/// Slots whose memory image stays mapped for the next run of the same component.
const WARM_SLOTS: u32 = 16;

/// How much an engine has to give.
#[derive(Debug, Clone, Copy)]
pub struct Room {
    /// At once.
    pub runs: u32,
    /// Of each memory.
    pub memory_bytes: usize,
}

impl Room {
    /// For so many runs at once, with as much memory as a version may ask for.
    pub fn new(runs: u32) -> Self {
        Self { runs, memory_bytes: usize::try_from(Limits::MAX.memory_bytes).unwrap_or(usize::MAX) }
    }
}

/// Makes the engine of all components but images: there is one in a process.
///
/// # Errors
/// When the settings do not fit the machine.
pub fn engine(room: Room) -> Result<Engine> {
    let mut config = settings();
    mapped::configure(&mut config);
    config.allocation_strategy(InstanceAllocationStrategy::Pooling(pool(room)));
    Engine::new(&config)
}

/// Makes the engine of one image: all memories of its instances begin with what the image's slots hold. Code fits both
/// kinds of engine.
///
/// # Errors
/// When the settings do not fit the machine.
pub fn of_image(slots: Slots, stacks: Stacks) -> Result<Engine> {
    let mut config = settings();
    mapped::configure(&mut config);
    config
        .allocation_strategy(InstanceAllocationStrategy::OnDemand)
        .with_host_memory(Arc::new(slots))
        .with_host_stack(Arc::new(stacks));
    Engine::new(&config)
}

/// Looks whether a file is code that this release can load on this machine, whatever a pool has room for.
///
/// # Errors
/// When another release made it, or it wants of the processor what this one cannot do.
///
/// # Safety
/// The file must be code that some release's compiler made.
pub unsafe fn check(code: &File) -> Result<(), Error> {
    let bytes = code.metadata().map_err(|error| Error::internal(error.to_string()))?.len();
    let mut config = settings();
    mapped::configure(&mut config);
    let engine = Engine::new(&config).map_err(Error::engine)?;
    // SAFETY: the caller's promise.
    unsafe { Native::map(code, bytes) }?.component(&engine).map(drop)
}

/// Everything that compiled code depends on.
fn settings() -> Config {
    let mut config = Config::new();
    config
        .strategy(Strategy::Cranelift)
        .cranelift_opt_level(OptLevel::Speed)
        .epoch_interruption(true)
        .consume_fuel(false)
        .concurrency_support(false)
        .max_wasm_stack(WASM_STACK_BYTES)
        .async_stack_size(ASYNC_STACK_BYTES)
        .async_stack_zeroing(true)
        .memory_init_cow(true)
        .wasm_memory64(false)
        .wasm_relaxed_simd(false)
        .wasm_tail_call(false)
        .wasm_wide_arithmetic(false)
        .cranelift_nan_canonicalization(true)
        .generate_address_map(true)
        .wasm_backtrace_max_frames(NonZeroUsize::new(BACKTRACE_FRAMES));
    config
}

fn pool(Room { runs, memory_bytes }: Room) -> PoolingAllocationConfig {
    let mut pool = PoolingAllocationConfig::new();
    pool.total_component_instances(runs)
        .total_core_instances(runs * CORE_INSTANCES_PER_COMPONENT)
        .total_memories(runs * MEMORIES_PER_COMPONENT)
        .total_tables(runs * TABLES_PER_COMPONENT)
        .total_stacks(runs)
        .max_core_instances_per_component(CORE_INSTANCES_PER_COMPONENT)
        .max_memories_per_component(MEMORIES_PER_COMPONENT)
        .max_tables_per_component(TABLES_PER_COMPONENT)
        .max_memory_size(memory_bytes)
        .table_elements(TABLE_ELEMENTS)
        .max_component_instance_size(INSTANCE_BYTES)
        .max_core_instance_size(INSTANCE_BYTES)
        .async_stack_keep_resident(STACK_BYTES_KEPT)
        .max_unused_warm_slots(WARM_SLOTS);
    pool
}
