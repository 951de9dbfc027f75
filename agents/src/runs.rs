//! Runs of agents: a model calls the tools of an agent until it has the answer to an objective.
//!
//! [`run_loop`] is the loop. It writes a checkpoint after every answer of the model and before and after every call of a tool ([`save`]), so that
//! another server can go on with the run. A checkpoint has one of several stages ([`run_checkpoint`], [`run_stage`]). A call takes the same steps as one of any client ([`tool_step`]); control
//! tools change only the run itself ([`control`]), but for the one that runs workflows ([`workflow`]). A run that needs a person pauses
//! until somebody answers ([`human`]). The operator bounds models and tokens ([`bounds`]).

mod answering;
mod bounds;
mod carry_out;
mod control;
mod human;
mod manage;
mod observation;
mod pending_calls;
mod run_checkpoint;
mod run_loop;
mod run_options;
mod run_stage;
mod save;
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
pub(crate) use control::list_control_tool_names;
pub use human::{HumanForm, HumanQuestion, HumanRequestDetails, HumanResponse};
pub use manage::Begun;
pub use run_checkpoint::{RunCheckpoint, SingleCall};
pub use run_loop::AgentRunLoop;
pub use run_options::AgentRunOptions;
pub use run_stage::{FinalAnswer, OpenQuestion, RunFailure};
pub(crate) use service::AgentRunParts;
pub use service::AgentRunService;
pub use single_call::{INPUT_UNAVAILABLE, NewSingleCall};
pub use stuck::{OnStuck, StuckAction};
pub use working::AGENT_RUNS;
