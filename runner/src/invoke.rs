//! Runs of tools that leave a record, and replays of such runs.
//!
//! A call resolves the version, takes a permit, validates its inputs, and selects the mode, egress policy and limits. Each
//! input then records its start, executes, validates its output, records its end and returns a result. Only these
//! modules of the crate use the store. `invoker` is the entry, and `run` has the steps of each input.

mod cancellation;
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
