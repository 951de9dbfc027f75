//! Finding the running revision of an agent, for its users.

use std::sync::Arc;

use super::agent_revisions;
use super::agents;
use crate::agent::{Agent, AgentReference, AgentRevision, RunningAgent};
use crate::error::Result;
use crate::ids::AgentId;
use crate::principal::Principal;
use crate::store::database::{Connection, Query};
use crate::store::handle::Store;

const FIND: &str = "SELECT * FROM agents WHERE organization = $1 AND deleted_at IS NULL AND (agent = $2 OR slug = $2)
    ORDER BY agent = $2 DESC LIMIT 1";

const REVISION: &str = "SELECT * FROM agent_revisions WHERE organization = $1 AND agent = $2 AND revision = $3";

impl Store {
    /// Returns an agent that the user sees, with its running revision. `None` also for an agent that was never deployed. Results
    /// are cached: a change by this server is visible immediately, a change by another process within a second.
    pub async fn running_agent(
        &self,
        principal: &Principal,
        reference: &AgentReference,
    ) -> Result<Option<Arc<RunningAgent>>> {
        let found = self.any_running_agent(principal, reference).await?;
        Ok(found.filter(|running| running.agent.is_visible_to(principal)))
    }

    async fn any_running_agent(
        &self,
        principal: &Principal,
        reference: &AgentReference,
    ) -> Result<Option<Arc<RunningAgent>>> {
        let (caches, organization) = (&self.0.kept.caches, &principal.organization);
        let key = (organization.clone(), reference.clone());
        let of_id = |agent: &AgentId| caches.running_agents.get(&(organization.clone(), agent.clone()));
        if let Some(found) = caches.agent_references.get(&key).and_then(|agent| of_id(&agent)) {
            return Ok(Some(found));
        }
        let (find_start, read_start) = (caches.agent_references.read_start(), caches.running_agents.read_start());
        let mut connection = self.readers().acquire().await?;
        let query = Query::new(FIND).bind(principal.organization.as_str()).bind(reference.as_str());
        let Some(row) = query.fetch_optional(&mut connection).await? else { return Ok(None) };
        let agent = agents::read(&row)?;
        caches.agent_references.insert_read(&find_start, key, agent.id.clone());
        // Its id and its slug share the agent.
        if let Some(found) = of_id(&agent.id) {
            return Ok(Some(found));
        }
        let Some(revision) = running_revision(&mut connection, &agent).await? else { return Ok(None) };
        let found = Arc::new(RunningAgent { agent, revision });
        let key = (organization.clone(), found.agent.id.clone());
        caches.running_agents.insert_read(&read_start, key, found.clone());
        Ok(Some(found))
    }
}

async fn running_revision(connection: &mut Connection, agent: &Agent) -> Result<Option<AgentRevision>> {
    let Some(number) = agent.running_revision else { return Ok(None) };
    let query = Query::new(REVISION).bind(agent.organization.as_str()).bind(agent.id.as_str()).bind(number.get());
    query.fetch_optional(connection).await?.as_ref().map(agent_revisions::read).transpose()
}
