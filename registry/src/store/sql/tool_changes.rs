//! The number of changes of the tools and the agents of an organisation. What a server has of them in memory is right as long as the
//! number is the same, so that nothing is read again because time has passed.

use super::list::List;
use super::row::{get, to_json};
use crate::account::OrganizationId;
use crate::error::Result;
use crate::store::changes::{Change, ChangeKind};
use crate::store::database::Query;
use crate::store::handle::Store;

const READ: &str = "SELECT tool_changes FROM organizations WHERE organization = $1";

/// Counts one change for each of the organisations. A transaction that changes tools or agents does so before it commits.
pub(super) const COUNT: &str = "UPDATE organizations SET tool_changes = tool_changes + 1
    WHERE organization IN (SELECT value FROM {members $1} changed)";

/// The organisations whose tools or agents are changed, each once.
pub(super) fn changed_organizations(changes: &[Change]) -> Result<List> {
    let mut list = List::default();
    let is_of_tools = |change: &&Change| matches!(change.kind, ChangeKind::Tools | ChangeKind::Agents);
    let mut named: Vec<_> = changes.iter().filter(is_of_tools).map(|change| change.organization.as_str()).collect();
    named.sort_unstable();
    named.dedup();
    for organization in named {
        list.push(&to_json(&organization)?);
    }
    Ok(list)
}

impl Store {
    /// Drops what is in memory of tools and agents if they were changed by another process. The number of changes is read at most once
    /// a second.
    pub(super) async fn drop_changed_tools(&self, organization: &OrganizationId) -> Result<()> {
        let caches = &self.0.kept.caches;
        if caches.compared_changes.get(organization).is_some() {
            return Ok(());
        }
        let read_start = caches.compared_changes.read_start();
        let query = Query::new(READ).bind(organization.as_str());
        let Some(row) = query.fetch_optional(self.readers()).await? else { return Ok(()) };
        let count: i64 = get(&row, "tool_changes")?;
        if caches.tool_changes.get(organization) != Some(count) {
            caches.drop_tools_and_agents(organization);
            caches.tool_changes.insert(organization.clone(), count);
        }
        caches.compared_changes.insert_read(&read_start, organization.clone(), ());
        Ok(())
    }
}
