//! Lists of runs of agents.

use super::row::{get, parsed, timestamp, timestamp_option};
use crate::agent_run::{AgentRunFilter, AgentRunState, ListedAgentRun};
use crate::error::Result;
use crate::permission::Permission;
use crate::principal::Principal;
use crate::store::database::{Query, Row};
use crate::store::handle::Store;

/// Ids are in the order of the starts.
macro_rules! select_listed {
    ($of_user:literal) => {
        concat!(
            "SELECT agent_run, agent, account, kind, state, objective, iterations, created_at, ended_at FROM agent_runs
            WHERE organization = $1 AND ",
            $of_user,
            " AND (state = $3 OR $3 IS NULL) AND (agent = $4 OR $4 IS NULL) AND (agent_run < $5 OR $5 IS NULL)
            ORDER BY agent_run DESC LIMIT $6"
        )
    };
}

const LIST_OF_USER: &str = select_listed!("account = $2");
const LIST_OF_ALL: &str = select_listed!("$2 <> ''");

impl Store {
    /// Lists the runs of the user, newest first; an administrator lists those of all users.
    pub async fn list_agent_runs(&self, principal: &Principal, filter: AgentRunFilter) -> Result<Vec<ListedAgentRun>> {
        let AgentRunFilter { state, agent, before, limit } = filter;
        let list = if principal.may(Permission::Administer) { LIST_OF_ALL } else { LIST_OF_USER };
        let query = Query::new(list).bind(principal.organization.as_str()).bind(principal.account.as_str());
        let query = query.bind(state.map(AgentRunState::as_str)).bind(agent.map(|agent| agent.to_string()));
        let query = query.bind(before.map(|run| run.to_string())).bind(limit);
        self.listing(&principal.organization).await?.rows(query).await?.iter().map(read).collect()
    }
}

fn read(row: &Row) -> Result<ListedAgentRun> {
    let iterations: i64 = get(row, "iterations")?;
    Ok(ListedAgentRun {
        id: parsed(row, "agent_run")?,
        agent: parsed(row, "agent")?,
        account: parsed(row, "account")?,
        kind: parsed(row, "kind")?,
        state: parsed(row, "state")?,
        objective: get(row, "objective")?,
        iterations: u32::try_from(iterations).unwrap_or(u32::MAX),
        created_at: timestamp(row, "created_at")?,
        ended_at: timestamp_option(row, "ended_at")?,
    })
}
