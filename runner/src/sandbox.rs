//! Executes components: from a component's bytes to the result of one run.
//!
//! Nothing here knows calls, their records or the store. A run enters as an [`Execution`](execution::Execution) with the
//! [`Ports`](ports::Ports) to its host, and leaves as an [`Executed`](executed::Executed).
//!
//! | modules | contents |
//! |---|---|
//! | `execution`, `executed`, `outcome`, `ports`, `tool_call`, `tape` | what enters and leaves a run, as plain data |
//! | `code`, `compile`, `interpreter` | components, and the compiled code of this node |
//! | `engine`, `guest_runtime`, `memory_reuse` | the engine, the runs of one thread, and their memories |
//! | `bindings`, `host`, `run_end`, `stopped_calls` | the functions that guests call, and why guests stop |
//! | `egress` | the requests of runs, which the server admits and sends |
//! | `executor`, `process`, `frames`, `child_end`, `wiping` | runner processes, and the socket to them |

pub(crate) mod bindings;
pub(crate) mod child_end;
pub(crate) mod code;
pub(crate) mod compile;
pub(crate) mod egress;
pub(crate) mod engine;
pub(crate) mod executed;
pub(crate) mod execution;
pub(crate) mod executor;
pub(crate) mod frames;
pub(crate) mod guest_runtime;
pub(crate) mod host;
pub(crate) mod interpreter;
pub(crate) mod memory_reuse;
pub(crate) mod outcome;
pub(crate) mod ports;
pub(crate) mod process;
pub(crate) mod run_end;
pub(crate) mod stopped_calls;
pub(crate) mod tape;
pub(crate) mod tool_call;
pub(crate) mod wiping;
