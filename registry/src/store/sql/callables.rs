//! Finding the version that a call runs, with its tool and the tool's variables.

use std::sync::Arc;

use super::{tools, variables, versions};
use crate::account::OrganizationId;
use crate::callable::Callable;
use crate::constraint::Constraint;
use crate::error::Result;
use crate::ids::ToolId;
use crate::store::database::Connection;
use crate::store::handle::Store;
use crate::tool::ToolRef;

impl Store {
    /// Returns the highest live version that matches, with its tool and variables. Results are cached: a change by
    /// this server is visible immediately, a change by another process within a second.
    pub async fn callable(
        &self,
        organization: &OrganizationId,
        tool: &ToolId,
        constraint: &Constraint,
    ) -> Result<Option<Arc<Callable>>> {
        let key = (organization.clone(), tool.clone(), constraint.to_string());
        if let Some(found) = self.0.kept.caches.callables.get(&key) {
            return Ok(Some(found));
        }
        let read_start = self.0.kept.caches.callables.read_start();
        let mut connection = self.readers().acquire().await?;
        let found = read(&mut connection, ToolRef { organization, tool }, constraint).await?.map(Arc::new);
        if let Some(found) = &found {
            self.0.kept.caches.callables.insert(&read_start, key, found.clone());
        }
        Ok(found)
    }
}

async fn read(connection: &mut Connection, of: ToolRef<'_>, constraint: &Constraint) -> Result<Option<Callable>> {
    let Some(version) = versions::resolve(connection, of, constraint).await? else { return Ok(None) };
    let Some(tool) = tools::find(connection, of).await? else { return Ok(None) };
    let variables = variables::sealed(connection, of).await?;
    Ok(Some(Callable { tool, version, variables }))
}
