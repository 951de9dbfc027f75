//! The engine: which features guests get, and how instances are allocated.

use std::num::NonZeroUsize;
use std::path::Path;

use wasmtime::component::Component;
use wasmtime::{Config, Engine, InstanceAllocationStrategy, OptLevel, PoolingAllocationConfig, Result, Strategy};

use crate::mapped;

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
/// What is zeroed of a stack after a run, rather than given back and faulted in again by the next.
const STACK_BYTES_KEPT: usize = 32 << 10;
/// Slots whose memory image stays mapped for the next run of the same component.
const WARM_SLOTS: u32 = 16;

/// Makes the engine of this process: there is one.
///
/// # Errors
/// When the settings do not fit the machine.
pub fn engine(parallel_runs_max: u32, memory_bytes_max: u64) -> Result<Engine> {
    let mut config = settings();
    mapped::configure(&mut config);
    config.allocation_strategy(InstanceAllocationStrategy::Pooling(pool(
        parallel_runs_max,
        usize::try_from(memory_bytes_max)?,
    )));
    Engine::new(&config)
}

/// Looks whether a file is code that this release can load on this machine, whatever a pool has room for.
///
/// # Errors
/// When another release made it, or it wants of the processor what this one cannot do.
///
/// # Safety
/// The file must be code that some release's compiler made.
pub unsafe fn check(code: &Path) -> Result<()> {
    // SAFETY: the caller's promise.
    unsafe { Component::deserialize_file(&Engine::new(&settings())?, code) }.map(drop)
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

fn pool(runs: u32, memory_bytes: usize) -> PoolingAllocationConfig {
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
