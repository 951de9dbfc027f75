//! The number of changes of the tools and the agents of an organisation. What a server has of them in memory is right as long as the
//! number is the same ([`super::compared_changes`]), so that nothing is read again because time has passed.

use crate::error::Result;
use crate::store::changes::{Change, ChangeKind};
use crate::store::sql::kit::list::List;
use crate::store::sql::kit::row::to_json;

/// Counts one change for each of the organisations. A transaction that changes tools or agents does so before it commits.
pub(in crate::store::sql) const COUNT: &str = "UPDATE organizations SET tool_changes = tool_changes + 1
    WHERE organization IN (SELECT value FROM {members $1} changed)";

/// The organisations whose tools or agents are changed, each once.
pub(in crate::store::sql) fn list_changed_organizations(changes: &[Change]) -> Result<List> {
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
