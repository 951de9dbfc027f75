//! Agents: create, find, list, change, assign tools, deploy.

use agents::AgentSlug;
use api::wire::{Agent, AgentDetail, AgentList, AgentRevision, AgentRevisionList, Assignment, CreatedAgent};
use registry::{AgentId, closest};
use reqwest::Method;
use serde_json::Value;

use super::decoded_response::{DecodedResponse, read};
use super::request::{Call, Client};
use crate::failure::Failure;

/// Maximum agents per page.
const PAGE_AGENTS_MAX: usize = 20;
/// Agents whose slugs are compared with that of an agent that does not exist: 25 requests.
const COMPARED_AGENTS_MAX: usize = 500;
/// Maximum revisions per page.
const PAGE_REVISIONS_MAX: usize = 100;

impl Client {
    pub async fn create_agent(&self, agent: Value) -> anyhow::Result<String> {
        let created: DecodedResponse<CreatedAgent> = self.get(Call::new(Method::POST, &["agent"]).body(agent)).await?;
        Ok(created.body.id.into())
    }

    /// Lists at most `agents_max` agents, and returns whether there are more.
    pub async fn list_agents(&self, types: &[String], agents_max: usize) -> anyhow::Result<(Vec<Value>, bool)> {
        let call = Call::new(Method::GET, &["agent"]).query_all("agent_type", types).query("limit", PAGE_AGENTS_MAX);
        let pages = self.read_pages_while::<AgentList>(call, |agents| agents.len() < agents_max);
        let (mut agents, has_more_pages) = pages.await?;
        let has_more = has_more_pages || agents.len() > agents_max;
        agents.truncate(agents_max);
        Ok((agents, has_more))
    }

    /// Finds the agent with a slug or an id. A slug can have the form of an id; the id wins. Of several agents with a slug, the caller's
    /// personal one wins, then that of the organisation.
    pub async fn find_agent(&self, slug_or_id: &str) -> anyhow::Result<Agent> {
        let by_id = match AgentId::parse(slug_or_id) {
            Ok(_) => self.find_agents_with("id", slug_or_id).await?.pop(),
            Err(_) => None,
        };
        let found = match by_id {
            None if AgentSlug::parse(slug_or_id).is_ok() => self.find_agent_with_slug(slug_or_id).await?,
            found => found,
        };
        match found {
            Some(agent) => Ok(agent),
            None => Err(self.explain_missing_agent(slug_or_id).await),
        }
    }

    /// The error for a slug or an id without an agent, with the agent that was probably meant.
    async fn explain_missing_agent(&self, slug_or_id: &str) -> anyhow::Error {
        // Without the list, the error has no suggestion.
        let (agents, _) = self.list_agents(&[], COMPARED_AGENTS_MAX).await.unwrap_or_default();
        let meant = closest(slug_or_id, agents.iter().filter_map(|agent| agent["slug"].as_str()));
        let meant = meant.map(|slug| format!("did you mean `{slug}`? ")).unwrap_or_default();
        let hint = format!("{meant}`lathe agent list` lists the agents that you see");
        Failure::coded("not_found", format!("there is no agent `{slug_or_id}`"), hint)
    }

    async fn find_agent_with_slug(&self, slug: &str) -> anyhow::Result<Option<Agent>> {
        let user = self.find_user_id().await?;
        let (personal, shared) = self.find_agents_with("slug", slug).await?.into_iter().partition(Agent::is_personal);
        let (own, of_others): (Vec<Agent>, Vec<Agent>) =
            Vec::into_iter(personal).partition(|agent| agent.author == user);
        let candidates: [Vec<Agent>; 3] = [own, shared, of_others];
        let mut found = candidates.into_iter().find(|agents| !agents.is_empty()).unwrap_or_default();
        if found.len() > 1 {
            // Administrators see the personal agents of all users, and of users who were removed.
            let hint = "name it by its id; `lathe agent list` shows the ids";
            return Err(Failure::usage(format!("several agents have the slug `{slug}`"), hint));
        }
        Ok(found.pop())
    }

    async fn find_agents_with(&self, field: &'static str, text: &str) -> anyhow::Result<Vec<Agent>> {
        let call = Call::new(Method::GET, &["agent"]).query(field, text).query("limit", PAGE_AGENTS_MAX);
        self.read_all_pages::<AgentList>(call).await?.iter().map(read).collect()
    }

    pub async fn show_agent(&self, id: &str) -> anyhow::Result<DecodedResponse<AgentDetail>> {
        self.get(Call::new(Method::GET, &["agent", id])).await
    }

    pub async fn modify_agent(&self, id: &str, changes: &Value) -> anyhow::Result<()> {
        self.execute(Call::new(Method::POST, &["agent", id]).body(changes.clone())).await
    }

    pub async fn delete_agent(&self, id: &str) -> anyhow::Result<()> {
        self.execute(Call::new(Method::DELETE, &["agent", id])).await
    }

    pub async fn assign_tool(&self, agent: &str, assignment: &Assignment) -> anyhow::Result<()> {
        self.execute(Call::new(Method::POST, &["agent", agent, "assignment"]).body(serde_json::to_value(assignment)?))
            .await
    }

    pub async fn unassign_tool(&self, agent: &str, tool: &str) -> anyhow::Result<()> {
        self.execute(Call::new(Method::DELETE, &["agent", agent, "assignment", tool])).await
    }

    pub async fn deploy_agent(&self, id: &str) -> anyhow::Result<DecodedResponse<AgentRevision>> {
        self.get(Call::new(Method::POST, &["agent", id, "deploy"])).await
    }

    pub async fn list_agent_revisions(&self, id: &str) -> anyhow::Result<Vec<Value>> {
        let path = ["agent", id, "revision"];
        self.read_all_pages::<AgentRevisionList>(Call::new(Method::GET, &path).query("limit", PAGE_REVISIONS_MAX)).await
    }

    pub async fn get_agent_revision(&self, id: &str, number: u32) -> anyhow::Result<DecodedResponse<AgentRevision>> {
        self.get(Call::new(Method::GET, &["agent", id, "revision", &number.to_string()])).await
    }
}
