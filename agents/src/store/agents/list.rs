//! Listing agents.

use registry::statements::{
    Listing, Query, SortedBy, Statement, Value, add_order, filter_name, get, read_unsigned, sort_keys, to_list,
    to_signed,
};
use registry::{Error, OrganizationId, Page, Permission, Principal, Result, Slice};

use super::agent::read;
use super::handle::Agents;
use crate::domain::agents::{Agent, AgentFilter, AgentSort, AgentType};

const LAST: &str = "SELECT name, created_at FROM agents WHERE organization = $1 AND sequence = $2";

/// The last agent of the previous page. An agent that is renamed between two pages can be on both or on neither.
struct LastAgent {
    sequence: i64,
    name: String,
    created_at: i64,
}

impl Agents {
    /// Lists the agents that the user sees, by default newest first. [`Error::PageTokenUnknown`] for a token of another list.
    pub async fn list_agents(&self, principal: &Principal, filter: &AgentFilter, page: Page) -> Result<Slice<Agent>> {
        let (organization, filter_name) = (&principal.organization, filter_name(filter));
        let list_names = ["agents", organization.as_str(), principal.account.as_str(), &filter_name];
        let mut listing = self.store.open_listing(organization).await?;
        let last = match page.is_first() {
            true => None,
            false => Some(self.find_last_agent(&mut listing, organization, &list_names, page).await?),
        };
        let mut statement = list(principal, filter, last.as_ref())?;
        statement.bind(" LIMIT ?", i64::from(page.limit) + 1);
        let rows = listing.rows(statement.query()).await?;
        let agents = rows.iter().map(|row| Ok((read(row)?, read_unsigned(row, "sequence")?))).collect::<Result<_>>()?;
        let token = |(_, sequence): &(Agent, u64)| self.store.registry().seal_position(&list_names, *sequence);
        Ok(Slice::cut(agents, page, token).map(|(agent, _)| agent))
    }

    async fn find_last_agent(
        &self,
        listing: &mut Listing,
        organization: &OrganizationId,
        list_names: &[&str],
        page: Page,
    ) -> Result<LastAgent> {
        let position = self.store.registry().open_position(list_names, page)?;
        let sequence = to_signed(position);
        let query = Query::new(LAST).bind(organization.as_str()).bind(sequence);
        let row = listing.row(query).await?.ok_or(Error::PageTokenUnknown)?;
        Ok(LastAgent { sequence, name: get(&row, "name")?, created_at: get(&row, "created_at")? })
    }
}

/// Returns the statement that lists agents after the last one of the previous page.
fn list(principal: &Principal, filter: &AgentFilter, last: Option<&LastAgent>) -> Result<Statement> {
    let mut statement = Statement::with(principal.organization.as_str());
    statement.push("SELECT a.* FROM agents a WHERE a.organization = $1 AND a.deleted_at IS NULL");
    if !principal.may(Permission::Administer) {
        statement.bind(" AND (a.scope = 'organization' OR a.author = ?)", principal.account.as_str());
    }
    let types: Vec<_> = filter.agent_types.iter().copied().map(AgentType::as_str).collect();
    statement.bind_some(" AND a.agent IN {members ?}", to_list(&filter.ids)?);
    statement.bind_some(" AND a.agent_type IN {members ?}", to_list(&types)?);
    statement.bind_some(" AND a.slug IN {members ?}", to_list(&filter.slugs)?);
    let keys = sort_keys(&filter.sort).into_iter().map(|(column, direction)| SortedBy {
        column: name(column),
        direction,
        last: last.map(|last| last.value(column)),
    });
    add_order(&mut statement, keys.collect(), "a.sequence", last.map(|last| last.sequence));
    Ok(statement)
}

impl LastAgent {
    fn value(&self, column: AgentSort) -> Value {
        match column {
            AgentSort::Name => self.name.as_str().into(),
            AgentSort::CreatedAt => self.created_at.into(),
        }
    }
}

const fn name(column: AgentSort) -> &'static str {
    match column {
        AgentSort::Name => "a.name",
        AgentSort::CreatedAt => "a.created_at",
    }
}
