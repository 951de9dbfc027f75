//! Runs of tools that leave a record, and replays of such runs.
//!
//! Every call takes the twelve steps that [`steps`] lists, whatever its tool and whoever its client. Only these modules of the crate
//! use the store. `invoker` is the entry.

mod admissions;
mod call_policy;
mod call_taker;
mod cancellation;
mod compiled_rules;
mod execute;
mod finish;
mod intervene;
mod invoker;
mod mode;
mod nested;
mod permit;
mod policy;
mod record;
mod record_retries;
mod recorded_responses;
mod refusal;
mod replay;
mod replay_report;
mod resolve;
mod resolved;
mod run;
mod services;
mod shape;
mod steps;
mod tape;
mod target;
mod validate;
mod verdict;

pub use call_policy::{CallPolicy, CalledTool};
pub(crate) use compiled_rules::COMPILED_RULES;
pub use intervene::{CONFIRMATION, confirm, is_confirmed};
pub use invoker::{Extensions, Invoker, Storage};
pub use refusal::Refusal;
pub use replay::{Replay, ReplayResult, ReplayTarget};
pub use replay_report::{DifferingRun, LastRuns, ReplayReport};
pub use target::NATIVE_OUTPUT_CHARACTERS_MAX;
