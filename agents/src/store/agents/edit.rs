//! Changes to an agent, and the agents that a user sees.

use registry::statements::{Change, ChangeKind, Connection, Query, require_changed};
use registry::{AgentId, Permission, Principal, Result, Timestamp};

use super::handle::Agents;

/// The condition that a user sees an agent that is not deleted. `$3` is the account of the user, and `$4` is 1 for an administrator.
macro_rules! is_visible {
    ($agent:literal) => {
        concat!(
            $agent,
            ".organization = $1 AND ",
            $agent,
            ".agent = $2 AND ",
            $agent,
            ".deleted_at IS NULL AND (",
            $agent,
            ".scope = 'organization' OR ",
            $agent,
            ".author = $3 OR $4 = 1)"
        )
    };
}
pub(in crate::store) use is_visible;

const TOUCH: &str = concat!("UPDATE agents SET updated_by = $5, updated_at = $6 WHERE ", is_visible!("agents"));

/// A change to an agent by a user.
pub(super) struct AgentEdit {
    pub principal: Principal,
    pub agent: AgentId,
    pub now: Timestamp,
}

impl Agents {
    pub(super) fn build_edit(&self, principal: &Principal, agent: &AgentId) -> AgentEdit {
        AgentEdit { principal: principal.clone(), agent: agent.clone(), now: self.store.clock().now() }
    }
}

impl AgentEdit {
    /// Records the user and the time of the change. Fails when the user sees no such agent.
    pub async fn touch(&self, connection: &mut Connection) -> Result<()> {
        let query = bind_visible(TOUCH, &self.principal, &self.agent).bind(self.principal.user().as_str());
        let query = query.bind(self.now.as_milliseconds());
        require_changed(query.execute(&mut *connection).await?, "agent")?;
        connection.announce(Change::of_organization(ChangeKind::Agents, &self.principal.organization));
        Ok(())
    }

    /// Binds the organisation and the agent as `$1` and `$2`.
    pub fn of(&self, statement: &'static str) -> Query {
        Query::new(statement).bind(self.principal.organization.as_str()).bind(self.agent.as_str())
    }
}

/// Binds what [`is_visible`] needs.
pub(in crate::store) fn bind_visible(statement: &'static str, principal: &Principal, agent: &AgentId) -> Query {
    let query = Query::new(statement).bind(principal.organization.as_str()).bind(agent.as_str());
    query.bind(principal.account.as_str()).bind(principal.may(Permission::Administer))
}
