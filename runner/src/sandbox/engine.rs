//! Settings of the engine: the features that guests get, and the allocation of instances.

mod fair_scheduler;
mod limiter;
mod ticker;

pub use fair_scheduler::FairScheduler;
pub use limiter::{Limiter, RefuseGrowth};
pub use ticker::{TICK, Ticker};

use std::num::NonZeroUsize;

use wasmtime::{Config, InstanceAllocationStrategy, OptLevel, PoolingAllocationConfig, Strategy};

use crate::Limits;

/// Stack of a guest, beyond which it traps. The host has the rest of the fiber's stack.
const WASM_STACK_BYTES: usize = 512 << 10;
const ASYNC_STACK_BYTES: usize = 2 << 20;
/// Frames of a WebAssembly backtrace. Those of an interpreter are deep and tell an author little.
const BACKTRACE_FRAMES: usize = 32;

/// Core instances of one component; the Python image has about thirty.
const CORE_INSTANCES_PER_COMPONENT: u32 = 64;
const TABLES_PER_COMPONENT: u32 = 16;
const MEMORIES_PER_COMPONENT: u32 = 4;
/// Elements of a table; the Python image's shared table has about 6,000.
const TABLE_ELEMENTS: usize = 20_000;
const INSTANCE_BYTES: usize = 1 << 20;
/// Pool slots whose memory image stays mapped for the next run of the same component.
const WARM_SLOTS: u32 = 16;
/// Bytes of a stack that are zeroed after a run. The rest is returned to the system, and costs the next run page faults.
pub const STACK_BYTES_KEPT: usize = 32 << 10;

/// Number and size of what an engine allocates.
#[derive(Debug, Clone, Copy)]
pub struct EngineCapacity {
    /// Concurrent runs.
    pub runs: u32,
    /// Size of each memory.
    pub memory_bytes: usize,
}

impl EngineCapacity {
    /// Capacity for concurrent runs with the largest memory that a version may ask for.
    pub fn new(runs: u32) -> Self {
        Self { runs, memory_bytes: usize::try_from(Limits::MAX.memory_bytes).unwrap_or(usize::MAX) }
    }
}

/// Settings of an engine that allocates instances from a pool.
pub fn build_pool_config(capacity: EngineCapacity) -> Config {
    let mut config = build_settings();
    config.allocation_strategy(InstanceAllocationStrategy::Pooling(build_pool(capacity)));
    config
}

/// Settings of an engine that allocates each instance on its own. Compiled code fits both kinds of engine.
pub fn build_on_demand_config() -> Config {
    let mut config = build_settings();
    config.allocation_strategy(InstanceAllocationStrategy::OnDemand);
    config
}

/// Settings that compiled code depends on.
fn build_settings() -> Config {
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

fn build_pool(EngineCapacity { runs, memory_bytes }: EngineCapacity) -> PoolingAllocationConfig {
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
