//! The JSON Schemas of values that responses contain as the registry stores them.
//!
//! The registry has no schemas. A field names its schema with `#[schemars(with = "…")]`. `#[serde(remote = "…")]` makes the
//! compiler compare fields, types and variants with those of the registry. The tests compare the names in JSON.

#![expect(dead_code, reason = "the schemas alone are used")]

mod content;
mod ledger;
mod settings;
mod source;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub(crate) use api_kit::id_schema::Id;
pub(crate) use content::ContentBlock;
pub(crate) use ledger::{Cost, Ledger};
pub(crate) use settings::{
    Annotations, HumanIntervention, Intervention, InterventionRule, McpSettings, TaskSupport, VersionSettings,
};
pub(crate) use source::{InvocationMode, InvocationSource, InvokeStep, Origin};

/// The version of a tool.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(remote = "registry::Version")]
pub(crate) struct Version {
    major: u64,
    minor: u64,
    patch: u64,
}

/// A permission of a user within an organisation.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(remote = "registry::Permission")]
pub(crate) enum Permission {
    #[serde(rename = "Tool:CreateTool")]
    CreateTool,
    #[serde(rename = "Tool:ModifyTool")]
    ModifyTool,
    #[serde(rename = "Tool:DeleteTool")]
    DeleteTool,
    #[serde(rename = "Tool:InvokeTool")]
    InvokeTool,
    /// Read and write the organisation's repository.
    #[serde(rename = "Tool:AccessRepo")]
    AccessRepo,
    /// See tools, their versions and the scaffold.
    #[serde(rename = "Tool:GetTool")]
    GetTool,
    /// Build and run a branch without publishing.
    #[serde(rename = "Tool:TestTool")]
    TestTool,
    /// Read and search the history of runs.
    #[serde(rename = "Tool:GetInvocation")]
    GetInvocation,
    #[serde(rename = "Agent:CreateAgent")]
    CreateAgent,
    /// Change agents and their assignments: the draft, which does not run.
    #[serde(rename = "Agent:ModifyAgent")]
    ModifyAgent,
    #[serde(rename = "Agent:DeleteAgent")]
    DeleteAgent,
    /// See agents, their drafts and their revisions.
    #[serde(rename = "Agent:GetAgent")]
    GetAgent,
    /// Make the draft of an agent the running revision.
    #[serde(rename = "Agent:DeployAgent")]
    DeployAgent,
    /// Manage users, roles and the keys of all users.
    #[serde(rename = "Organization:Admin")]
    Administer,
    /// Read and manage one's own account and keys. Every signed-in user has it; roles cannot grant it.
    #[serde(rename = "User:Self")]
    OwnAccount,
}

#[cfg(test)]
mod tests;
