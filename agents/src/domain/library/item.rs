//! The Library: what users and their agents keep, in seven families of items.

use registry::{
    AccountId, AgentId, CallerName, Correction, InvalidValue, LibraryItemId, OrganizationId, RunId, Timestamp,
    heap_bytes, named_values,
};
use serde_json::{Map, Value};

named_values! {
    /// A family of items. It is also a family of tools.
    LibraryFamily = "library family", "must be memory, rules, skills, tasks, prompts, artifacts or preferences" {
        /// Facts, observations and decisions.
        Memory = "memory",
        /// Requirements and bans for agents.
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

impl LibraryFamily {
    /// The field that lists of the family leave out, since it may be large.
    pub const fn content_field(self) -> Option<&'static str> {
        match self {
            Self::Skills | Self::Prompts | Self::Artifacts => Some("content"),
            Self::Preferences => Some("supersedes"),
            Self::Tasks => Some("fire_history"),
            Self::Memory | Self::Rules => None,
        }
    }
}

/// The user whose items a call reads and writes, within one application or outside of all applications.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct LibraryScope {
    pub organization: OrganizationId,
    pub account: AccountId,
    pub app: Option<CallerName>,
}

impl LibraryScope {
    /// The application as it is stored: empty outside of all applications.
    pub(crate) fn stored_app(&self) -> &str {
        self.app.as_ref().map_or("", CallerName::as_str)
    }
}

heap_bytes! {
    LibraryScope { organization, account, app }
}

/// The origin of a revision of an item.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Provenance {
    pub invocation: Option<RunId>,
    pub agent: Option<AgentId>,
    pub workflow: Option<CallerName>,
    /// Whether the user wrote it, and not a model.
    pub is_trusted: bool,
}

/// The content of an item.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LibraryContent {
    /// Unique among the live items of a family that an owner has in an application.
    pub key: Option<String>,
    /// The kind of the item within its family, by which lists are filtered.
    pub label: Option<String>,
    pub tags: Vec<String>,
    /// The time at which the server has to do something with the item.
    pub due_at: Option<Timestamp>,
    /// The fields of the family, with those above.
    pub body: Map<String, Value>,
}

impl LibraryContent {
    /// Refuses what some databases cannot store or compare.
    pub(crate) fn require_storable(&self) -> Result<(), InvalidValue> {
        require_no_nul(self.key.iter().chain(&self.label).chain(&self.tags))
    }
}

/// Refuses texts with a NUL, which some databases refuse.
pub(crate) fn require_no_nul<'t>(mut texts: impl Iterator<Item = &'t String>) -> Result<(), InvalidValue> {
    let rule = InvalidValue::new("name, key, kind or tag", "must have no NUL");
    if texts.any(|text| text.contains('\0')) { Err(rule) } else { Ok(()) }
}

/// An item of the Library.
#[derive(Clone, Debug, PartialEq)]
pub struct LibraryItem {
    pub id: LibraryItemId,
    pub family: LibraryFamily,
    pub owner: AccountId,
    pub app: Option<CallerName>,
    /// The fields of the family; in a list, without [`LibraryFamily::content_field`].
    pub body: Map<String, Value>,
    /// The bytes of that field, in UTF-8.
    pub content_bytes: u64,
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

/// The memories that a search found.
#[derive(Clone, Debug, PartialEq)]
pub struct MemoryResults {
    /// The best first.
    pub items: Vec<MemoryResult>,
    /// The kind of the embedder that searched by meaning. `None` when the search was by words alone.
    pub semantic: Option<&'static str>,
    /// Words of the query that no memory has, and that were taken for others.
    pub corrections: Vec<Correction>,
}

/// The searches that found a memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MatchedBy {
    pub text: bool,
    pub semantic: bool,
}

/// A memory that a search found.
#[derive(Clone, Debug, PartialEq)]
pub struct MemoryResult {
    pub item: LibraryItem,
    pub score: f64,
    pub matched: MatchedBy,
}
