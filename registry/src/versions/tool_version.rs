//! A published version of a tool. A version never changes; it can only be deprecated.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::annotations::{Annotations, TaskSupport};
use super::attestation::Attestation;
use super::constraint::Constraint;
use super::intervention::{Intervention, InterventionRule};
use super::language::Language;
use super::mcp_settings::McpSettings;
use super::schema_text::SchemaText;
use super::source_names::{BranchName, ProjectPath};
use super::tool_api::{ApiName, SystemRole, ToolApi};
use super::tool_world::ToolWorld;
use super::version::{BumpKind, Version};
use crate::kit::account::{OrganizationId, UserId};
use crate::kit::byte_cache::heap_bytes;
use crate::kit::clock::Timestamp;
use crate::kit::digest::Digest;
use crate::kit::ids::{ToolId, VersionId};
use crate::kit::page::Direction;
use crate::tools::{EnvvarName, ToolName};

/// The settings of a version, from the project's manifest.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct VersionSettings {
    pub language: Language,
    pub entry_point: String,
    /// Patterns of the hosts that its requests may go to.
    pub allowed_hosts: Vec<String>,
    /// JSON Schema of the output, if the author declares one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_schema: Option<SchemaText>,
    /// Secrets that the server inserts into requests to these hosts. The tool never receives them.
    pub secret_hosts: BTreeMap<EnvvarName, Vec<String>>,
    /// SHA-256 of the project's mocks.
    pub mocks_digest: Option<Digest>,
    pub timeout_ms: u64,
    pub memory_bytes: u64,
    pub limits: RunBounds,
    /// Whether tapes of its runs are stored, so that the runs can be replayed.
    pub tape: bool,
    /// Whether responses to the requests of its runs are stored and used in simulations.
    pub recorded_answers: bool,
    /// The WIT world that it was built against.
    pub world: ToolWorld,
    /// The author's hints for models and clients. Absent if nothing is declared.
    #[serde(default, skip_serializing_if = "Annotations::is_empty")]
    pub annotations: Annotations,
    /// Whether a person confirms each call. Absent for `never`.
    #[serde(default, skip_serializing_if = "Intervention::is_never")]
    pub intervention: Intervention,
    /// Rules for the calls with certain arguments. Absent if there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub intervention_rules: Vec<InterventionRule>,
    /// Whether a call over MCP becomes a task. Absent for `never`.
    #[serde(default, rename = "tasks", skip_serializing_if = "TaskSupport::is_never")]
    pub task_support: TaskSupport,
    /// What MCP clients see besides a tool, and when tasks begin. Absent if nothing is declared.
    #[serde(default, skip_serializing_if = "McpSettings::is_empty")]
    pub mcp: McpSettings,
    /// The tools that its runs may call, with the versions that it accepts. Absent if there are none.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub calls: BTreeMap<ToolName, Constraint>,
    /// The APIs of the tool. Absent for a tool of one function.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub apis: BTreeMap<ApiName, ToolApi>,
    /// The instructions for models that have some of the APIs. Absent if the author gives none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub system_role: Option<SystemRole>,
}

impl VersionSettings {
    /// The API that an input is for, if the version has APIs and the input names one of them.
    pub fn api_of(&self, input: &Map<String, Value>) -> Option<&ToolApi> {
        self.apis.get(&ApiName::of_input(input)?)
    }

    /// The schema of the output for an input: that of the API, if the version has APIs.
    pub fn output_schema_of(&self, input: &Map<String, Value>) -> Option<&SchemaText> {
        let schema = if self.apis.is_empty() { &self.output_schema } else { &self.api_of(input)?.output_schema };
        schema.as_ref()
    }

    /// Whether a person confirms a call with an input: the declaration of the API, if the version has APIs.
    pub fn intervention_of(&self, input: &Map<String, Value>) -> Intervention {
        self.api_of(input).map_or(self.intervention, |api| api.intervention)
    }
}

heap_bytes! {
    VersionSettings {
        entry_point, allowed_hosts, output_schema, secret_hosts, world, annotations, intervention_rules, mcp, calls, apis, system_role
    }
    ToolVersion {
        organization, required_envvars, required_secret_envvars, input_schema, commit, commit_branch, scaffold_commit, project_path,
        settings, creator, updated_by
    }
}

/// Limits of a run that a version sets itself. Absent limits have their defaults. The operator's limits apply in any case.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RunBounds {
    /// CPU time, without time spent waiting.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_ms: Option<u64>,
    /// Elements over all tables of a run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub table_elements: Option<u64>,
    /// Open streams, timers and other host resources.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handles: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host_calls: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_characters: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status_events: Option<u64>,
    /// Bytes of one status event.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status_event_bytes: Option<u64>,
    /// Bytes of printed text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log_bytes: Option<u64>,
    /// Outbound requests, including refused requests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub http_requests: Option<u64>,
    /// Concurrent outbound requests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub http_parallel: Option<u64>,
    /// Bytes of a request body.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub http_request_bytes: Option<u64>,
    /// Bytes of a response body.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub http_response_bytes: Option<u64>,
    /// Bytes sent and received over all requests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub http_bytes: Option<u64>,
}

/// The input for publishing a version, from a finished build.
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
    /// `None` for a version without an image, whose whole component is stored.
    pub bundle_digest: Option<Digest>,
    pub component_digest: Digest,
    /// The log of the build, as shown to authors.
    pub build_log: String,
    pub attestation: Attestation,
}

/// The inputs of a publication. Two publications with equal inputs are repetitions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Publication {
    pub commit: String,
    pub commit_branch: BranchName,
    pub project_path: ProjectPath,
    /// `None` when the request names no bump, which equals any bump.
    pub bump: Option<BumpKind>,
}

/// A stored version.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolVersion {
    pub id: VersionId,
    pub organization: OrganizationId,
    pub tool: ToolId,
    pub version: Version,
    /// Number of the version in order of publication, from 1.
    pub ordinal: i64,
    pub required_envvars: Vec<EnvvarName>,
    pub required_secret_envvars: Vec<EnvvarName>,
    pub input_schema: SchemaText,
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

impl ToolVersion {
    /// Bytes of the schemas, as JSON.
    pub fn schema_bytes(&self) -> usize {
        let of_apis = self.settings.apis.values().flat_map(|api| [Some(&api.input_schema), api.output_schema.as_ref()]);
        let of_tool = [Some(&self.input_schema), self.settings.output_schema.as_ref()];
        of_tool.into_iter().chain(of_apis).flatten().map(|schema| schema.as_str().len()).sum()
    }
}

/// The filter and order of a list of versions. The default lists all versions, newest first.
#[derive(Clone, Debug, Default)]
pub struct VersionFilter {
    pub deprecated: Option<bool>,
    pub constraint: Option<Constraint>,
    /// Lists versions by any of these users. Empty means all users.
    pub creators: Vec<Creator>,
    /// Ties are ordered by age, newest first.
    pub sort: Vec<(VersionSort, Direction)>,
}

/// The publisher of a version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Creator {
    pub organization: OrganizationId,
    pub user: UserId,
}

/// Sort keys of versions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VersionSort {
    CreatedAt,
    Major,
    Minor,
    Patch,
    Deprecated,
}
