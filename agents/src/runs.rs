//! Runs of agents: a model calls the tools of an agent until it has the answer to an objective.
//!
//! [`run_loop`] is the loop. It writes a [`checkpoint`] after every answer of the model and before and after every call of a tool, so that
//! another server can go on with the run ([`progress`]). A call takes the same steps as one of any client ([`tool_step`]); control
//! tools change only the run itself ([`control`]), but for the one that runs workflows ([`workflow`]). A run that needs a person pauses
//! until somebody answers ([`human`]). The operator bounds models and tokens ([`bounds`]).

mod answering;
mod bounds;
mod carry_out;
mod checkpoint;
mod control;
mod human;
mod manage;
mod observation;
mod progress;
mod run_loop;
mod schema_texts;
mod service;
mod single_call;
mod step_secrets;
mod stuck;
mod system_prompt;
mod tool_step;
mod workflow;
mod workflow_request;
mod working;

pub use control::MILESTONE_CHARACTERS_MAX;
pub(crate) use control::control_tool_names;
pub use human::{HumanForm, HumanQuestion, HumanRequestDetails, HumanResponse};
pub use manage::Begun;
pub use progress::{AgentRunOptions, FinalAnswer, Progress, RunFailure, SingleCall};
pub use run_loop::AgentRunLoop;
pub(crate) use service::AgentRunParts;
pub use service::AgentRunService;
pub use single_call::{INPUT_UNAVAILABLE, NewSingleCall};
pub use stuck::{OnStuck, StuckAction};
pub use working::AGENT_RUNS;
