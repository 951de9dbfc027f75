//! Comparing the number of changes of tools and agents ([`super::tool_changes`]) with the one that a server knows.

use super::handle::Tools;
use crate::error::Result;
use crate::kit::account::OrganizationId;
use crate::store::changes::{Change, ChangeKind};
use crate::store::database::Query;
use crate::store::sql::kit::row::get;

const READ: &str = "SELECT tool_changes FROM organizations WHERE organization = $1";

impl Tools {
    /// Drops what is in memory of tools and agents if they were changed by another process. The number of changes is read at most once
    /// a second.
    pub async fn drop_changed_tools(&self, organization: &OrganizationId) -> Result<()> {
        let kept = &self.store.0.kept;
        let caches = &kept.caches;
        if caches.compared_changes.get(organization).is_some() {
            return Ok(());
        }
        let read_start = caches.compared_changes.read_start();
        let query = Query::new(READ).bind(organization.as_str());
        let Some(row) = query.fetch_optional(self.store.readers()).await? else { return Ok(()) };
        let count: i64 = get(&row, "tool_changes")?;
        if caches.tool_changes.get(organization) != Some(count) {
            for kind in [ChangeKind::Tools, ChangeKind::Agents] {
                kept.drop_changed(&Change::of_organization(kind, organization));
            }
            caches.tool_changes.insert(organization.clone(), count);
        }
        caches.compared_changes.insert_read(&read_start, organization.clone(), ());
        Ok(())
    }
}
