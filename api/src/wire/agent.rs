//! Agents with their drafts, and the revisions that deployments make.

use agents::BuiltInTools;
use registry::AgentId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::agent_state::AgentState;
use super::assignment::Assignment;
/// An agent, without its draft.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Agent {
    pub id: AgentId,
    pub org_id: String,
    /// `agent`, `mcp_gateway` or `profile`.
    pub agent_type: String,
    pub name: String,
    /// The name of the agent in URLs.
    pub slug: String,
    pub description: String,
    /// `personal` or `organization`.
    pub scope: String,
    /// The user who created the agent.
    pub author: String,
    pub updated_by: String,
    #[schemars(extend("format" = "date-time"))]
    pub created_at: String,
    #[schemars(extend("format" = "date-time"))]
    pub updated_at: String,
    /// Null until the first deployment.
    pub running_revision: Option<u32>,
}

impl Agent {
    /// Whether only its author and administrators see the agent.
    pub fn is_personal(&self) -> bool {
        self.scope == agents::AgentScope::Personal.as_str()
    }
}

/// An agent with its draft.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct AgentDetail {
    #[serde(flatten)]
    pub agent: Agent,
    pub draft: AgentDraft,
}

/// The content of a deployment.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct AgentDraft {
    pub system_prompt: String,
    /// `full` or `search`.
    pub tool_exposure: String,
    #[serde(rename = "builtInTools")]
    pub built_in_tools: BuiltInTools,
    pub assignments: Vec<Assignment>,
    /// In the order of their names.
    pub states: Vec<AgentState>,
}

/// The response to the creation of an agent.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct CreatedAgent {
    pub id: AgentId,
}

/// A revision without its content.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "AgentDeployment")]
pub struct Deployment {
    /// The first revision is 1, without gaps.
    pub number: u32,
    pub deployed_by: String,
    #[schemars(extend("format" = "date-time"))]
    pub deployed_at: String,
}

/// A deployed draft. It never changes.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct AgentRevision {
    #[serde(flatten)]
    pub deployment: Deployment,
    #[serde(flatten)]
    pub content: AgentDraft,
    /// The warnings of a deployment, about settings that may be mistakes. Empty for a revision that is only shown.
    pub warnings: Vec<String>,
}

/// An example of an agent, for the OpenAPI document.
pub(crate) fn agent_example() -> Value {
    json!({
        "id": "6ab13d50a3c20f6f6e5d4c3b", "org_id": "acme", "agent_type": "agent", "name": "Support", "slug": "support",
        "description": "Answers questions about orders.", "scope": "organization", "author": "ann", "updated_by": "ann",
        "created_at": "2026-11-20T21:32:05.000Z", "updated_at": "2026-11-20T21:40:11.000Z", "running_revision": 1,
    })
}

/// An example of a revision without its content, for the OpenAPI document.
pub(crate) fn deployment_example() -> Value {
    json!({"number": 1, "deployed_by": "ann", "deployed_at": "2026-11-20T21:40:11.000Z"})
}

impl From<agents::Agent> for Agent {
    fn from(agent: agents::Agent) -> Self {
        Self {
            id: agent.id,
            org_id: agent.organization.to_string(),
            agent_type: agent.agent_type.as_str().to_owned(),
            name: agent.name.into(),
            slug: agent.slug.into(),
            description: agent.description.into(),
            scope: agent.scope.as_str().to_owned(),
            author: agent.author.user().into(),
            updated_by: agent.updated_by.into(),
            created_at: agent.created_at.to_string(),
            updated_at: agent.updated_at.to_string(),
            running_revision: agent.running_revision.map(registry::RevisionNumber::get),
        }
    }
}

impl From<agents::AgentDraft> for AgentDraft {
    fn from(draft: agents::AgentDraft) -> Self {
        let assignments = draft.assignments.into_iter().map(Assignment::from).collect();
        let tool_exposure = draft.tool_exposure.as_str().to_owned();
        let states = draft.states.into_iter().map(AgentState::from).collect();
        Self {
            system_prompt: draft.system_prompt.into(),
            tool_exposure,
            built_in_tools: draft.built_in_tools,
            assignments,
            states,
        }
    }
}

impl From<agents::Deployment> for Deployment {
    fn from(deployment: agents::Deployment) -> Self {
        Self {
            number: deployment.number.get(),
            deployed_by: deployment.deployed_by.into(),
            deployed_at: deployment.deployed_at.to_string(),
        }
    }
}

impl From<agents::AgentRevision> for AgentRevision {
    fn from(revision: agents::AgentRevision) -> Self {
        Self { deployment: revision.deployment.into(), content: revision.content.into(), warnings: Vec::new() }
    }
}
