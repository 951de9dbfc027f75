//! Runs of agents, and their requests to people.

mod human_request;
mod run;

pub use human_request::{
    HumanRequest, HumanRequestFilter, HumanRequestKind, HumanRequestState, NewHumanRequest, NewHumanResponse, Urgency,
};
pub use run::{
    AgentRun, AgentRunCapacity, AgentRunFilter, AgentRunKind, AgentRunState, AgentRunStep, Checkpoint, ListedAgentRun,
    NewAgentRun, NewStep, RunObjective, StartedAgentRun, StepFilter,
};
