//! Runs of tools that leave a record, and replays of such runs.
//!
//! Every call takes the twelve steps that [`steps`] lists, whatever its tool and whoever its client. Only these modules of the crate
//! use the store. `invoker` is the entry.

mod admissions;
mod agent_catalogue;
mod agent_runs;
mod call_taker;
mod cancellation;
mod catalogue;
mod catalogue_cache;
mod compiled_rules;
mod due_tasks;
mod execute;
mod finish;
mod intervene;
mod invoker;
mod mode;
mod nested;
mod obey;
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
mod rule_cache;
mod run;
mod schema_texts;
mod search_index;
mod search_tools;
mod services;
mod shape;
mod steps;
mod tape;
mod target;
mod turn;
mod validate;
mod verdict;
mod working_agent_runs;

pub use agent_runs::{
    AgentRunLoop, AgentRunOptions, Begun, FinalAnswer, HumanForm, HumanQuestion, HumanRequestDetails, HumanResponse,
    INPUT_UNAVAILABLE, MILESTONE_CHARACTERS_MAX, NewSingleCall, OnStuck, Progress, RunFailure, SingleCall, StuckAction,
    is_control_tool,
};
pub use catalogue::{Catalogue, ListedSource, ListedTool, RUN_TOOL, SEARCH_TOOLS};
pub(crate) use catalogue_cache::CATALOGUES;
pub(crate) use compiled_rules::COMPILED_RULES;
pub use invoker::{Invoker, Storage};
pub use refusal::Refusal;
pub use replay::{Replay, ReplayResult, ReplayTarget};
pub use replay_report::{DifferingRun, LastRuns, ReplayReport};
pub(crate) use rule_cache::RULES;
pub use search_tools::search_tools;
pub use target::NATIVE_OUTPUT_CHARACTERS_MAX;
pub use turn::TurnCall;
pub use working_agent_runs::AGENT_RUNS;
