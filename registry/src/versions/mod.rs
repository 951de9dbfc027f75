//! Versions of tools: what a version declares, how it was built, and how callers select it.

mod annotations;
mod attestation;
mod build;
mod callable;
mod constraint;
mod constraint_notation;
mod host_pattern;
mod human_intervention;
mod intervention;
mod language;
mod lease;
mod mcp_settings;
mod schema_text;
mod source_names;
mod tool_api;
mod tool_version;
mod tool_world;
mod uri_parts;
mod version;

pub use annotations::{Annotations, TaskSupport, ToolTitle};
pub use attestation::{Attestation, SigningKeyInUse};
pub use build::{Build, BuildReference, BuildState, FailedBuild, OldBuilds};
pub use callable::Callable;
pub(crate) use callable::SealedVariable;
pub use constraint::Constraint;
pub use constraint_notation::to_pep440;
pub use host_pattern::HostPattern;
pub use human_intervention::HumanIntervention;
pub use intervention::{Intervention, InterventionRule};
pub use language::Language;
pub use lease::{Busy, Lease};
pub use mcp_settings::{McpSettings, ResourceUri};
pub use schema_text::SchemaText;
pub use source_names::{BranchName, ProjectPath};
pub use tool_api::{ApiName, SystemRole, ToolApi};
pub use tool_version::{
    Creator, NewVersion, Publication, RunBounds, ToolVersion, VersionFilter, VersionSettings, VersionSort,
};
pub use tool_world::ToolWorld;
pub use version::{BumpKind, Version};
