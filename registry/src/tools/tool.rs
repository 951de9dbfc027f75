//! A tool: a name under which versions are published, with a description, tags and variables.

use super::names::{Description, EnvvarName, ToolName};
use super::tags::Tags;
use crate::kit::account::{OrganizationId, UserId};
use crate::kit::byte_cache::heap_bytes;
use crate::kit::clock::Timestamp;
use crate::kit::ids::ToolId;
use crate::kit::page::Direction;

/// A tool of an organisation.
#[derive(Clone, Copy, Debug)]
pub struct ToolRef<'a> {
    pub organization: &'a OrganizationId,
    pub tool: &'a ToolId,
}

/// The input for creating a tool.
#[derive(Clone, Debug)]
pub struct NewTool {
    pub name: ToolName,
    pub description: Description,
    pub tags: Tags,
}

/// A stored tool, with the names of its variables.
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

heap_bytes! {
    Tool { organization, name, description, tags, envvars, secret_envvars, creator, updated_by }
}

/// Changes to a tool. `None` keeps the current value.
#[derive(Clone, Debug, Default)]
pub struct ToolChanges {
    pub description: Option<Description>,
    pub tags: Option<Tags>,
}

/// The filter and order of a list of tools. The default lists all tools, newest first.
#[derive(Clone, Debug, Default)]
pub struct ToolFilter {
    /// Lists tools with any of these ids. Empty means all tools.
    pub ids: Vec<ToolId>,
    pub deprecated: Option<bool>,
    /// Lists tools that have all of these tags.
    pub tags: Vec<TagFilter>,
    /// Ties are ordered by age, newest first.
    pub sort: Vec<(ToolSort, Direction)>,
}

/// A tag that a tool must have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TagFilter {
    pub key: String,
    pub value: TagValue,
}

/// The required value of a tag.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TagValue {
    Any,
    Null,
    Equals(String),
}

/// Sort keys of tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToolSort {
    Name,
    Deprecated,
}
