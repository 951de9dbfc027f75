//! Agents: the tools that they have, their conversations, their runs with models, and the Library.
//!
//! [`AgentServices`] adds the server's own tools and the rules of users to a [`runner::Invoker`], which makes every call, and has the
//! [`Catalogues`] of tools, the [`Turns`] of conversations, the [`AgentRunService`] and the [`DueTasks`].

#![forbid(unsafe_code)]

mod caches;
mod catalogue;
mod client_schema;
mod config;
mod due_tasks;
mod error;
mod library;
mod metrics;
mod model;
mod platform_call;
mod platform_tools;
mod rules;
mod runs;
mod search_tools;
mod services;
mod turns;

pub use caches::CACHES;
pub use catalogue::{Catalogue, Catalogues, ListedSource, ListedTool, RUN_TOOL, SEARCH_TOOLS};
pub use client_schema::{describes_objects, names_object_type};
pub use config::Config;
pub use due_tasks::DueTasks;
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
pub use turns::{TurnCall, Turns};
