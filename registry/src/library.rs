//! The Library: what users and their agents keep, in seven families of items.

use serde_json::{Map, Value};

use crate::account::{OrganizationId, UserId};
use crate::clock::Timestamp;
use crate::ids::{AgentId, InvocationId, LibraryItemId};
use crate::named_values::named_values;
use crate::text_type::{made_of, text_type};

named_values! {
    /// A family of items. It is also a family of tools.
    LibraryFamily = "library family", "must be memory, rules, skills, tasks, prompts, artifacts or preferences" {
        /// Facts, observations and decisions.
        Memory = "memory",
        /// What an agent must, must not or should do.
        Rules = "rules",
        /// Instructions that are used again.
        Skills = "skills",
        /// Work that is due at a time.
        Tasks = "tasks",
        Prompts = "prompts",
        /// Reports, dashboards, plans and other results.
        Artifacts = "artifacts",
        /// Wishes of a user, each under a key.
        Preferences = "preferences",
    }
}

text_type! {
    /// An application or a workflow in whose name calls are made. It is a name that the caller chooses.
    CallerName = "name of an application or a workflow", "must be 1 to 128 characters of A-Z a-z 0-9 . _ : -", |text| {
        made_of(text, 128, |c| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | ':' | '-'))
    };
}

/// The application and the workflow in whose names a call is made.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CallerNames {
    pub app: Option<CallerName>,
    pub workflow: Option<CallerName>,
}

/// Whose items a call reads and writes: those of a user within one application, or those outside of all applications.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LibraryScope {
    pub organization: OrganizationId,
    pub user: UserId,
    pub app: Option<CallerName>,
}

/// What wrote a revision of an item.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Provenance {
    pub invocation: Option<InvocationId>,
    pub agent: Option<AgentId>,
    pub workflow: Option<CallerName>,
    /// Whether the user wrote it, and not a model.
    pub is_trusted: bool,
}

/// What an item says.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LibraryContent {
    /// Unique among the live items of a family that an owner has in an application.
    pub key: Option<String>,
    /// The kind of the item within its family, by which lists are filtered.
    pub label: Option<String>,
    pub tags: Vec<String>,
    /// The fields of the family, with those above.
    pub body: Map<String, Value>,
}

/// An item of the Library.
#[derive(Clone, Debug, PartialEq)]
pub struct LibraryItem {
    pub id: LibraryItemId,
    pub family: LibraryFamily,
    pub owner: UserId,
    pub app: Option<CallerName>,
    pub body: Map<String, Value>,
    /// Counts the changes. The first revision is 1.
    pub revision: u64,
    pub provenance: Provenance,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

/// Conditions on the items of a list, of which all must hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LibraryFilter {
    pub label: Option<String>,
    /// Tags that an item has all of.
    pub tags: Vec<String>,
}

/// A part of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LibraryRange {
    pub limit: u32,
    pub offset: u32,
}
