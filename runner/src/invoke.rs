//! Runs of tools that leave a record, and replays of such runs.
//!
//! A call passes: resolve, permit, validate, mode, policy, limits, record start, execute, check the output, record end,
//! render. Only these modules of the crate use the store. `invoker` is the entry, and `run` has the steps of each
//! input.

mod invoker;
mod record_retries;
mod recorded_responses;
mod replay;
mod replay_report;
mod resolve;
mod run;
mod services;
mod tape;

pub use invoker::{Invoker, Storage};
pub use replay::{Replay, ReplayResult, ReplayTarget};
pub use replay_report::{DifferingRun, LastRuns, ReplayReport};
