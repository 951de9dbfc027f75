//! Finding the version that a call runs, with its tool's name and variables.

use std::sync::Arc;

use super::row::parsed;
use super::{variables, versions};
use crate::account::OrganizationId;
use crate::callable::Callable;
use crate::constraint::Constraint;
use crate::error::Result;
use crate::ids::ToolId;
use crate::store::database::{Connection, Query};
use crate::store::handle::Store;
use crate::tool::ToolRef;

const NAME: &str = "SELECT name FROM tools WHERE organization = $1 AND tool = $2";

impl Store {
    /// Returns the highest live version that matches, with its tool's name and variables. Results are cached: a change by
    /// this server is visible immediately, a change by another process within a second.
    pub async fn callable(
        &self,
        organization: &OrganizationId,
        tool: &ToolId,
        constraint: &Constraint,
    ) -> Result<Option<Arc<Callable>>> {
        let key = (organization.clone(), tool.clone(), constraint.to_string());
        if let Some(found) = self.0.caches.callables.get(&key) {
            return Ok(Some(found));
        }
        let read_start = self.0.caches.callables.read_start();
        let mut connection = self.readers().acquire().await?;
        let found = read(&mut connection, ToolRef { organization, tool }, constraint).await?.map(Arc::new);
        if let Some(found) = &found {
            self.0.caches.callables.insert(&read_start, key, found.clone());
        }
        Ok(found)
    }
}

async fn read(connection: &mut Connection, of: ToolRef<'_>, constraint: &Constraint) -> Result<Option<Callable>> {
    let Some(version) = versions::resolve(connection, of, constraint).await? else { return Ok(None) };
    let query = Query::new(NAME).bind(of.organization.as_str()).bind(of.tool.as_str());
    let Some(row) = query.fetch_optional(&mut *connection).await? else { return Ok(None) };
    let tool_name = parsed(&row, "name")?;
    let variables = variables::sealed(connection, of).await?;
    Ok(Some(Callable { tool_name, version, variables }))
}
