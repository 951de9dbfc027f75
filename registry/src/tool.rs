//! A tool: a name that versions are published under, with its description, tags and variables.

use crate::account::{OrganizationId, UserId};
use crate::clock::Timestamp;
use crate::ids::ToolId;
use crate::names::{Description, EnvvarName, ToolName};
use crate::page::Direction;
use crate::tags::Tags;

/// What is needed to create a tool.
#[derive(Clone, Debug)]
pub struct NewTool {
    pub name: ToolName,
    pub description: Description,
    pub tags: Tags,
}

/// A stored tool. Of its variables only the names are here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tool {
    pub id: ToolId,
    pub organization: OrganizationId,
    pub name: ToolName,
    pub description: Description,
    pub tags: Tags,
    pub deprecated: bool,
    pub envvars: Vec<EnvvarName>,
    pub secret_envvars: Vec<EnvvarName>,
    pub creator: UserId,
    pub updated_by: UserId,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

/// What to change; `None` leaves the present value.
#[derive(Clone, Debug, Default)]
pub struct ToolChanges {
    pub description: Option<Description>,
    pub tags: Option<Tags>,
}

/// Which tools are listed, and in which order; the default lists all, newest first.
#[derive(Clone, Debug, Default)]
pub struct ToolFilter {
    /// Any of these; empty means all.
    pub ids: Vec<ToolId>,
    pub deprecated: Option<bool>,
    /// All of these.
    pub tags: Vec<TagFilter>,
    /// Ties are broken by age, newest first.
    pub sort: Vec<(ToolSort, Direction)>,
}

/// A tag that a tool must carry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TagFilter {
    pub key: String,
    pub value: TagValue,
}

/// What the value of a tag must be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TagValue {
    Any,
    Null,
    Equals(String),
}

/// What tools can be sorted by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToolSort {
    Name,
    Deprecated,
}
