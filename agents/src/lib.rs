//! Agents: the tools that they have, their conversations, their runs with models, and the Library.
//!
//! [`AgentServices`] adds the server's own tools and the rules of users to a [`runner::Invoker`], which makes every call, and has the
//! [`Catalogues`] of tools, the [`Turns`] of conversations, the [`AgentRunService`] and the [`DueTasks`].

#![forbid(unsafe_code)]

mod caches;
mod catalogue;
mod client_schema;
mod config;
mod domain;
mod due_tasks;
mod embeddings;
mod error;
mod library;
mod memory_search;
mod metrics;
mod model;
mod platform_call;
mod platform_tools;
mod rules;
mod runs;
mod search_tools;
mod services;
mod store;
mod turns;

pub use caches::CACHES;
pub use catalogue::{Catalogue, Catalogues, ListedSource, ListedTool, RUN_TOOL, SEARCH_TOOLS};
pub use client_schema::{describes_objects, names_object_type};
pub use config::{Config, StoreConfig};
pub use domain::agent_runs::{
    AgentRun, AgentRunCapacity, AgentRunFilter, AgentRunKind, AgentRunState, AgentRunStep, Checkpoint, HumanRequest,
    HumanRequestFilter, HumanRequestKind, HumanRequestState, ListedAgentRun, NewAgentRun, NewHumanRequest,
    NewHumanResponse, NewStep, RunObjective, StartedAgentRun, StepFilter, Urgency,
};
pub use domain::agents::{
    Agent, AgentChanges, AgentDraft, AgentFilter, AgentName, AgentReference, AgentRevision, AgentScope, AgentSlug,
    AgentSort, AgentState, AgentType, Assignment, AssignmentProblem, AudioFiller, AudioFillers, BuiltInTools,
    Deployment, FamilyName, FillerDelay, Instruction, NewAgent, RunningAgent, SpecList, StateName, StateProblem,
    StateTools, StateType, SystemPrompt, ToolCallSpecs, ToolExposure, TurnState,
};
pub use domain::conversations::{
    Conversation, NewConversation, NewTurn, PresentedTool, RunStatus, RunStatusEnd, Simulation, Turn, TurnPlace,
};
pub use domain::library::{
    DownloadToken, LibraryContent, LibraryFamily, LibraryFilter, LibraryItem, LibraryRange, LibraryScope, MatchedBy,
    MemoryResult, MemoryResults, Provenance,
};
pub use due_tasks::DueTasks;
pub use embeddings::{EmbedFailure, Embedder, HttpEmbedder, HttpEmbedderOptions, Vector};
pub use error::Error;
pub use library::{
    ArtifactEncoding, FilledTooLarge, fill_variables, library_failure, library_instructions, library_refusal,
};
pub use metrics::describe_metrics;
pub use model::{Model, ModelApi, ModelBounds, ModelSettings};
pub use platform_tools::routed_tools;
pub use runs::{
    AGENT_RUNS, AgentRunLoop, AgentRunOptions, AgentRunService, Begun, FinalAnswer, HumanForm, HumanQuestion,
    HumanRequestDetails, HumanResponse, INPUT_UNAVAILABLE, MILESTONE_CHARACTERS_MAX, NewSingleCall, OnStuck,
    OpenQuestion, RunCheckpoint, RunFailure, SingleCall, StuckAction,
};
pub use search_tools::search_tools;
pub use services::AgentServices;
pub use store::{
    Advance, AdvancedItem, AgentRuns, AgentStore, Agents, Conversations, DueRun, EndedRun, Library, Report,
};
pub use turns::{TurnCall, Turns};
