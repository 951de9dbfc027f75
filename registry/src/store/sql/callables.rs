//! What a call asks for: a version, its tool and the tool's variables, together and remembered for a moment.

use std::sync::Arc;

use super::dialect::Connection;
use super::row::parsed;
use super::{variables, versions};
use crate::account::OrganizationId;
use crate::callable::Callable;
use crate::constraint::Constraint;
use crate::error::Result;
use crate::ids::ToolId;
use crate::store::Store;
use crate::store::fresh::Fresh;

/// Callables remembered at once, some kilobytes each with its schema.
const CALLABLES_MAX: usize = 1024;

/// By what was called. The constraint is its text: `~=1.0` and `~=1.0.0` are equal as values, and mean different versions.
pub(in crate::store) type Callables = Fresh<(OrganizationId, ToolId, String), Arc<Callable>>;

pub(in crate::store) fn remembered() -> Callables {
    Fresh::new(CALLABLES_MAX)
}

const NAME: &str = "SELECT name FROM tools WHERE organization = $1 AND tool = $2";

impl Store {
    /// Finds the highest live version that the constraint allows, and what its tool has. What this server changed
    /// counts at once, what another process changed within a second.
    pub async fn callable(
        &self,
        organization: &OrganizationId,
        tool: &ToolId,
        constraint: &Constraint,
    ) -> Result<Option<Arc<Callable>>> {
        let asked = (organization.clone(), tool.clone(), constraint.to_string());
        if let Some(found) = self.0.callables.get(&asked) {
            return Ok(Some(found));
        }
        let ticket = self.0.callables.ticket();
        let mut connection = self.readers().acquire().await?;
        let found = read(&mut connection, organization, tool, constraint).await?.map(Arc::new);
        if let Some(found) = &found {
            self.0.callables.put(&ticket, asked, found.clone());
        }
        Ok(found)
    }
}

async fn read(
    connection: &mut Connection,
    organization: &OrganizationId,
    tool: &ToolId,
    constraint: &Constraint,
) -> Result<Option<Callable>> {
    let Some(version) = versions::resolve(connection, organization, tool, constraint).await? else { return Ok(None) };
    let query = sqlx::query(NAME).bind(organization.as_str()).bind(tool.as_str());
    let Some(row) = query.fetch_optional(&mut *connection).await? else { return Ok(None) };
    let tool_name = parsed(&row, "name")?;
    let variables = variables::sealed(connection, organization, tool).await?;
    Ok(Some(Callable { tool_name, version, variables }))
}
