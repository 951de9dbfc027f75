//! Agents: holders of tools, with drafts, states and revisions.

mod agent;
mod assignment;
mod built_in_tools;
mod presenting;
mod state;

pub use agent::{
    Agent, AgentChanges, AgentDraft, AgentFilter, AgentName, AgentReference, AgentRevision, AgentScope, AgentSlug,
    AgentSort, AgentType, Deployment, NewAgent, RunningAgent, SystemPrompt, ToolExposure,
};
pub use assignment::{Assignment, AssignmentProblem, AudioFiller, AudioFillers, FillerDelay, Instruction};
pub use built_in_tools::{BuiltInTools, FamilyName};
pub use presenting::{StateProblem, TurnState};
pub use state::{AgentState, SpecList, StateName, StateTools, StateType, ToolCallSpecs};
