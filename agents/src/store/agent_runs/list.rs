//! Lists of runs of agents.

use registry::statements::{Row, Statement, get, parse_column, read_optional_timestamp, read_timestamp};
use registry::{OrganizationId, Permission, Principal, Result};

use super::handle::AgentRuns;
use crate::domain::agent_runs::{AgentRunFilter, AgentRunState, ListedAgentRun};

const LISTED: &str =
    "SELECT agent_run, agent, account, kind, state, objective, iterations, created_at, ended_at FROM agent_runs
    WHERE organization = $1";

impl AgentRuns {
    /// Lists the runs of the user, newest first; an administrator lists those of all users.
    pub async fn list_agent_runs(&self, principal: &Principal, filter: AgentRunFilter) -> Result<Vec<ListedAgentRun>> {
        let account = (!principal.may(Permission::Administer)).then(|| principal.account.as_str());
        let query = list(&principal.organization, account, &filter).query();
        self.store.open_listing(&principal.organization).await?.rows(query).await?.iter().map(read).collect()
    }
}

/// Returns the statement of a list. It has no condition that is always true, so that planners use the index of the others; ids are in
/// the order of the starts.
pub(in crate::store) fn list(
    organization: &OrganizationId,
    account: Option<&str>,
    filter: &AgentRunFilter,
) -> Statement {
    let AgentRunFilter { state, agent, before, limit } = filter;
    let mut statement = Statement::with(organization.as_str());
    statement.push(LISTED);
    statement.bind_some(" AND account = ?", account);
    statement.bind_some(" AND state = ?", state.map(AgentRunState::as_str));
    statement.bind_some(" AND agent = ?", agent.as_ref().map(ToString::to_string));
    statement.bind_some(" AND agent_run < ?", before.as_ref().map(ToString::to_string));
    statement.bind(" ORDER BY agent_run DESC LIMIT ?", *limit);
    statement
}

fn read(row: &Row) -> Result<ListedAgentRun> {
    let iterations: i64 = get(row, "iterations")?;
    Ok(ListedAgentRun {
        id: parse_column(row, "agent_run")?,
        agent: parse_column(row, "agent")?,
        account: parse_column(row, "account")?,
        kind: parse_column(row, "kind")?,
        state: parse_column(row, "state")?,
        objective: get(row, "objective")?,
        iterations: u32::try_from(iterations).unwrap_or(u32::MAX),
        created_at: read_timestamp(row, "created_at")?,
        ended_at: read_optional_timestamp(row, "ended_at")?,
    })
}
