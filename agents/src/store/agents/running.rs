//! Finding the running revision of an agent, for its users.

use std::sync::Arc;

use registry::statements::{Connection, Query, Row, parse_column};
use registry::{AccountId, AgentId, Principal, Result};

use super::handle::Agents;
use super::{agent, revisions};
use crate::domain::agents::{Agent, AgentReference, AgentRevision, AgentScope, RunningAgent};
use crate::store::caches::NamedAgent;

const NAMED: &str = "SELECT agent, scope, author FROM agents
    WHERE organization = $1 AND deleted_at IS NULL AND (agent = $2 OR slug = $2)";

const FIND: &str = "SELECT * FROM agents WHERE organization = $1 AND agent = $2 AND deleted_at IS NULL";

const REVISION: &str = "SELECT * FROM agent_revisions WHERE organization = $1 AND agent = $2 AND revision = $3";

impl Agents {
    /// Returns an agent that the user sees, with its running revision. `None` also for an agent that was never deployed. Results are
    /// cached until a change: one by this server is visible immediately, one by another process within a second.
    pub async fn running_agent(
        &self,
        principal: &Principal,
        reference: &AgentReference,
    ) -> Result<Option<Arc<RunningAgent>>> {
        self.store.registry().tools().drop_changed_tools(&principal.organization).await?;
        let named = self.list_agents_named(principal, reference).await?;
        let Some(agent) = choose(&named, &principal.account, reference) else { return Ok(None) };
        let found = self.read_any_running_agent(principal, agent).await?;
        Ok(found.filter(|running| running.agent.is_visible_to(principal)))
    }

    /// Returns all agents of the organisation with a name, for all users.
    async fn list_agents_named(&self, principal: &Principal, reference: &AgentReference) -> Result<Arc<[NamedAgent]>> {
        let references = &self.store.0.kept.references;
        let key = (principal.organization.clone(), reference.clone());
        if let Some(found) = references.get(&key) {
            return Ok(found);
        }
        let read_start = references.read_start();
        let query = Query::new(NAMED).bind(principal.organization.as_str()).bind(reference.as_str());
        let rows = query.fetch_all(self.store.readers()).await?;
        let found: Arc<[_]> = rows.iter().map(read_named).collect::<Result<_>>()?;
        // A caller can invent any number of names.
        if !found.is_empty() {
            references.insert_read(&read_start, key, found.clone());
        }
        Ok(found)
    }

    async fn read_any_running_agent(
        &self,
        principal: &Principal,
        agent: &AgentId,
    ) -> Result<Option<Arc<RunningAgent>>> {
        let running = &self.store.0.kept.running;
        let key = (principal.organization.clone(), agent.clone());
        if let Some(found) = running.get(&key) {
            return Ok(Some(found));
        }
        let read_start = running.read_start();
        let mut connection = self.store.readers().acquire().await?;
        let query = Query::new(FIND).bind(principal.organization.as_str()).bind(agent.as_str());
        let Some(row) = query.fetch_optional(&mut connection).await? else { return Ok(None) };
        let agent = agent::read(&row)?;
        let Some(revision) = find_running_revision(&mut connection, &agent).await? else { return Ok(None) };
        let found = Arc::new(RunningAgent { agent, revision });
        running.insert_read(&read_start, key, found.clone());
        Ok(Some(found))
    }
}

/// Chooses the agent that a name means for a user: the one with this id, then a personal one of the user, then that of the organisation.
fn choose<'a>(named: &'a [NamedAgent], account: &AccountId, reference: &AgentReference) -> Option<&'a AgentId> {
    let with_id = |named: &&NamedAgent| named.agent.as_str() == reference.as_str();
    let own = |named: &&NamedAgent| named.personal_of.as_ref() == Some(account);
    let of_all = |named: &&NamedAgent| named.personal_of.is_none();
    let found = named.iter().find(with_id).or_else(|| named.iter().find(own)).or_else(|| named.iter().find(of_all));
    found.map(|named| &named.agent)
}

fn read_named(row: &Row) -> Result<NamedAgent> {
    let personal_of = match parse_column(row, "scope")? {
        AgentScope::Personal => Some(parse_column(row, "author")?),
        AgentScope::Organization => None,
    };
    Ok(NamedAgent { agent: parse_column(row, "agent")?, personal_of })
}

async fn find_running_revision(connection: &mut Connection, agent: &Agent) -> Result<Option<AgentRevision>> {
    let Some(number) = agent.running_revision else { return Ok(None) };
    let query = Query::new(REVISION).bind(agent.organization.as_str()).bind(agent.id.as_str()).bind(number.get());
    query.fetch_optional(connection).await?.as_ref().map(revisions::read).transpose()
}
