//! Agents: holders of tools, with a draft that is edited and revisions that never change.

use registry::{
    AccountId, AgentId, Description, Direction, OrganizationId, Permission, Principal, RevisionNumber, Timestamp,
    UserId, heap_bytes, made_of, named_values, text_type,
};

use super::assignment::Assignment;
use super::built_in_tools::BuiltInTools;
use super::state::AgentState;
use crate::domain::library::LibraryFamily;

text_type! {
    /// The name of an agent, for people. Surrounding white space is trimmed.
    AgentName = "agent name", "must have 1 to 128 bytes besides surrounding white space, and no NUL", |text| {
        made_of(text.trim(), AgentName::BYTES_MAX, |c| c != '\0')
    };
}

text_type! {
    /// The name of an agent in URLs, unique among the agents of the organisation, and among the personal agents of an author.
    AgentSlug = "slug", "must be 1 to 64 characters of a-z 0-9 -, the first and the last no hyphen", |text| {
        let slug = made_of(text, AgentSlug::BYTES_MAX, |c| matches!(c, 'a'..='z' | '0'..='9' | '-'))?;
        let is_right = !slug.starts_with('-') && !slug.ends_with('-');
        is_right.then_some(slug)
    };
}

text_type! {
    /// The id or the slug of an agent, in the URL of a client. An agent's id comes before another agent's slug, and a personal agent of the
    /// caller before one of the organisation.
    AgentReference = "agent", "must be the id or the slug of an agent", |text| {
        AgentSlug::parse(text).ok().map(|slug| slug.as_str().to_owned())
    };
}

impl From<&AgentId> for AgentReference {
    fn from(agent: &AgentId) -> Self {
        Self(agent.as_str().into())
    }
}

text_type! {
    /// The system prompt of an agent. It can be empty. NUL is refused, because some databases refuse it.
    SystemPrompt = "system prompt", "must have at most 65536 bytes, and no NUL", |text| {
        let fits = text.len() <= SystemPrompt::BYTES_MAX && !text.contains('\0');
        fits.then(|| text.to_owned())
    };
}

impl AgentName {
    /// Length of a name: a line on a screen.
    pub const BYTES_MAX: usize = 128;
}

impl AgentSlug {
    /// Length of a slug. It becomes part of URLs and of the names of tools.
    pub const BYTES_MAX: usize = 64;
}

impl SystemPrompt {
    /// Length of a system prompt: about 16,000 tokens.
    pub const BYTES_MAX: usize = 64 * 1024;
}

named_values! {
    /// The kind of an agent. It never changes.
    AgentType = "agent type", "must be agent, mcp_gateway or profile" {
        Agent = "agent",
        /// Tools for MCP clients that run their own loop.
        McpGateway = "mcp_gateway",
        /// Tools that agents and gateways share.
        Profile = "profile",
    }
}

named_values! {
    /// The users who see an agent.
    AgentScope = "scope", "must be personal or organization" {
        /// The author and administrators.
        Personal = "personal",
        /// Every user of the organisation who may see agents.
        Organization = "organization",
    }
}

named_values! {
    /// How the tools of an agent are shown to its model.
    ToolExposure = "tool exposure", "must be full or search" {
        /// Every tool, with its description and its input schema.
        Full = "full",
        /// A search for tools. The model sees the tools that it finds.
        Search = "search",
    }
}

/// The input for creating an agent. The draft has no assignments.
#[derive(Clone, Debug)]
pub struct NewAgent {
    pub agent_type: AgentType,
    pub name: AgentName,
    pub slug: AgentSlug,
    pub description: Description,
    pub scope: AgentScope,
    pub system_prompt: SystemPrompt,
    pub tool_exposure: ToolExposure,
    pub built_in_tools: BuiltInTools,
}

/// A stored agent, without its draft.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Agent {
    pub id: AgentId,
    pub organization: OrganizationId,
    pub agent_type: AgentType,
    pub name: AgentName,
    pub slug: AgentSlug,
    pub description: Description,
    pub scope: AgentScope,
    pub author: AccountId,
    pub updated_by: UserId,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
    /// `None` until the first deployment.
    pub running_revision: Option<RevisionNumber>,
}

/// The part of an agent that is deployed: what edits change, and what a revision keeps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentDraft {
    pub system_prompt: SystemPrompt,
    pub tool_exposure: ToolExposure,
    pub built_in_tools: BuiltInTools,
    /// In the order of the tools' ids, each tool once.
    pub assignments: Vec<Assignment>,
    /// In the order of their names. Turns of an agent without states present its assignments.
    pub states: Vec<AgentState>,
}

impl AgentDraft {
    /// Bytes of the schemas of all tools of a revision with its states, as JSON with the settings of their versions: as many as a turn
    /// presents at most. Catalogues of the agent hold them, and each list of its tools sends them.
    pub const SCHEMAS_BYTES_MAX: usize = 8 << 20;
    /// Bytes of the assignments of an agent, as JSON. Each revision keeps all of them, and every call reads them.
    pub const ASSIGNMENTS_BYTES_MAX: usize = 1 << 20;
}

/// Changes to an agent. `None` keeps the current value. A change of the system prompt or of the tool exposure
/// changes the draft.
#[derive(Clone, Debug, Default)]
pub struct AgentChanges {
    pub name: Option<AgentName>,
    pub slug: Option<AgentSlug>,
    pub description: Option<Description>,
    pub scope: Option<AgentScope>,
    pub system_prompt: Option<SystemPrompt>,
    pub tool_exposure: Option<ToolExposure>,
    pub built_in_tools: Option<BuiltInTools>,
}

/// A deployment of a draft.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deployment {
    pub number: RevisionNumber,
    pub deployed_by: UserId,
    pub deployed_at: Timestamp,
}

/// A deployed draft. It never changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentRevision {
    pub deployment: Deployment,
    pub content: AgentDraft,
}

/// An agent with its running revision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunningAgent {
    pub agent: Agent,
    pub revision: AgentRevision,
}

impl RunningAgent {
    /// Whether the agent has a family of the Library. Gateways have none.
    pub fn has_family(&self, family: LibraryFamily) -> bool {
        self.agent.agent_type != AgentType::McpGateway && self.revision.content.built_in_tools.allows(family)
    }
}

impl Agent {
    /// Whether a user of the organisation sees the agent.
    pub fn is_visible_to(&self, principal: &Principal) -> bool {
        let is_own = self.author == principal.account || principal.may(Permission::Administer);
        self.organization == principal.organization && (is_own || self.scope == AgentScope::Organization)
    }
}

/// The filter and order of a list of agents. The default lists all agents, newest first. An empty list does not filter.
#[derive(Clone, Debug, Default)]
pub struct AgentFilter {
    pub ids: Vec<AgentId>,
    pub agent_types: Vec<AgentType>,
    pub slugs: Vec<AgentSlug>,
    /// Ties are ordered by age, newest first.
    pub sort: Vec<(AgentSort, Direction)>,
}

/// Sort keys of agents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AgentSort {
    Name,
    CreatedAt,
}

heap_bytes! {
    Agent { organization, name, slug, description, author, updated_by }
    AgentDraft { system_prompt, built_in_tools, assignments, states }
    Deployment { deployed_by }
    AgentRevision { deployment, content }
    RunningAgent { agent, revision }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slugs_have_no_hyphen_at_their_ends() {
        for (slug, is_right) in [("a", true), ("a-b-1", true), ("-a", false), ("a-", false), ("A", false), ("", false)]
        {
            assert_eq!(AgentSlug::parse(slug).is_ok(), is_right, "{slug}");
        }
        assert!(AgentSlug::parse(&"a".repeat(64)).is_ok() && AgentSlug::parse(&"a".repeat(65)).is_err());
    }
}
