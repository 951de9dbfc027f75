//! A published version of a tool. Nothing rewrites one; it can only be deprecated.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::account::{OrganizationId, UserId};
use crate::attestation::Attestation;
use crate::clock::Timestamp;
use crate::constraint::Constraint;
use crate::digest::Digest;
use crate::ids::{ToolId, VersionId};
use crate::names::EnvvarName;
use crate::page::Direction;
use crate::source_names::{BranchName, ProjectPath};
use crate::tool_world::ToolWorld;
use crate::version::{BumpKind, Version};

/// The language that a tool is written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Language {
    Python,
    JavaScript,
    Rust,
}

impl Language {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Python => "python",
            Self::JavaScript => "javascript",
            Self::Rust => "rust",
        }
    }
}

/// How a version is run, from the project's manifest.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct VersionSettings {
    pub language: Language,
    pub entry_point: String,
    /// Where its requests may go; see [`crate::HostPattern`].
    pub allowed_hosts: Vec<String>,
    /// What outputs match, as JSON Schema, when the author says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_schema: Option<serde_json::Value>,
    /// Secrets that the host puts into requests to these hosts, and that the tool never has.
    #[serde(default)]
    pub secret_hosts: BTreeMap<EnvvarName, Vec<String>>,
    /// The project's answers for simulations, among the artefacts.
    #[serde(default)]
    #[schemars(with = "Option<String>")]
    pub mocks_digest: Option<Digest>,
    pub timeout_ms: u64,
    pub memory_bytes: u64,
    #[serde(default)]
    pub limits: RunBounds,
    /// Whether runs are kept so that they can be replayed.
    #[serde(default = "yes")]
    pub tape: bool,
    /// Whether simulations may have what other runs' requests were answered, which is kept for them.
    #[serde(default)]
    pub recorded_answers: bool,
    /// What of the boundary to its host it was built against; versions of earlier releases do not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub world: Option<ToolWorld>,
}

/// Versions of before have no word on it.
const fn yes() -> bool {
    true
}

/// Further bounds of a run that a version sets itself. What is absent has its default, and the operator's caps hold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RunBounds {
    /// Computing time, waiting left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_ms: Option<u64>,
    /// Over all tables of a run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub table_elements: Option<u64>,
    /// Streams, timers and the like that are open at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handles: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host_calls: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_characters: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status_events: Option<u64>,
    /// Of one of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status_event_bytes: Option<u64>,
    /// Of what it prints.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log_bytes: Option<u64>,
    /// Outbound requests, refused ones included.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub http_requests: Option<u64>,
    /// Of these under way at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub http_parallel: Option<u64>,
    /// Of a request's body.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub http_request_bytes: Option<u64>,
    /// Of an answer's body.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub http_response_bytes: Option<u64>,
    /// Sent and received over all requests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub http_bytes: Option<u64>,
}

/// What a finished build knows about the version that it makes.
#[derive(Clone, Debug)]
pub struct NewVersion {
    pub bump: BumpKind,
    pub required_envvars: Vec<EnvvarName>,
    pub required_secret_envvars: Vec<EnvvarName>,
    pub input_schema: serde_json::Value,
    /// The pinned commit, 40 hexadecimal characters.
    pub commit: String,
    pub commit_branch: BranchName,
    pub scaffold_commit: String,
    pub project_path: ProjectPath,
    pub settings: VersionSettings,
    pub image_digest: Digest,
    /// `None` when the component is stored whole.
    pub bundle_digest: Option<Digest>,
    pub component_digest: Digest,
    /// The log of the build, as shown to authors.
    pub build_log: String,
    /// What is said about it; nothing where nobody built it.
    pub attestation: Option<Attestation>,
}

/// What makes one publication of a tool the same as another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Publication {
    pub commit: String,
    pub commit_branch: BranchName,
    pub project_path: ProjectPath,
    /// Any, when none was named.
    pub bump: Option<BumpKind>,
}

/// A stored version.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolVersion {
    pub id: VersionId,
    pub organization: OrganizationId,
    pub tool: ToolId,
    pub version: Version,
    /// Counts the tool's versions from 1 in order of publication.
    pub ordinal: i64,
    pub required_envvars: Vec<EnvvarName>,
    pub required_secret_envvars: Vec<EnvvarName>,
    pub input_schema: serde_json::Value,
    pub commit: String,
    pub commit_branch: BranchName,
    pub scaffold_commit: String,
    pub project_path: ProjectPath,
    pub settings: VersionSettings,
    pub image_digest: Digest,
    pub bundle_digest: Option<Digest>,
    pub component_digest: Digest,
    pub deprecated: bool,
    pub creator: UserId,
    pub updated_by: UserId,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

/// Which versions of a tool are listed, and in which order; the default lists all, newest first.
#[derive(Clone, Debug, Default)]
pub struct VersionFilter {
    pub deprecated: Option<bool>,
    pub constraint: Option<Constraint>,
    /// Any of these; empty means all.
    pub creators: Vec<Creator>,
    /// Ties are broken by age, newest first.
    pub sort: Vec<(VersionSort, Direction)>,
}

/// Who published a version: a user of an organisation, or of the tool's own when none is named.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Creator {
    pub organization: Option<OrganizationId>,
    pub user: UserId,
}

/// What versions can be sorted by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VersionSort {
    CreatedAt,
    Major,
    Minor,
    Patch,
    Deprecated,
}
