//! Finding the version that a call runs, with its tool and the tool's variables.

use std::sync::Arc;

use super::handle::Versions;
use super::version;
use crate::error::Result;
use crate::kit::account::OrganizationId;
use crate::kit::ids::{ToolId, VersionId};
use crate::store::database::Connection;
use crate::store::sql::tools::{tool, variables};
use crate::tools::ToolRef;
use crate::versions::{Callable, Constraint};

impl Versions {
    /// Returns the highest live version that matches, with its tool and variables. Results are cached until a change: one by this server
    /// is visible immediately, one by another process within a second.
    pub async fn callable(
        &self,
        organization: &OrganizationId,
        tool: &ToolId,
        constraint: &Constraint,
    ) -> Result<Option<Arc<Callable>>> {
        self.store.tools().drop_changed_tools(organization).await?;
        let caches = &self.store.0.kept.caches;
        let key = (organization.clone(), tool.clone(), constraint.to_string());
        let callable_key = |version: VersionId| (organization.clone(), tool.clone(), version);
        if let Some(found) = caches.resolved.get(&key).and_then(|version| caches.callables.get(&callable_key(version)))
        {
            return Ok(Some(found));
        }
        let (resolve_start, read_start) = (caches.resolved.read_start(), caches.callables.read_start());
        let (mut connection, of) = (self.store.readers().acquire().await?, ToolRef { organization, tool });
        let Some(version) = version::resolve_id(&mut connection, of, constraint).await? else { return Ok(None) };
        caches.resolved.insert_read(&resolve_start, key, version.clone());
        if let Some(found) = caches.callables.get(&callable_key(version.clone())) {
            return Ok(Some(found));
        }
        let found = read(&mut connection, of, &version).await?.map(Arc::new);
        if let Some(found) = &found {
            caches.callables.insert_read(&read_start, callable_key(version), found.clone());
        }
        Ok(found)
    }
}

async fn read(connection: &mut Connection, of: ToolRef<'_>, version: &VersionId) -> Result<Option<Callable>> {
    let Some(version) = version::find_by_id(connection, of.organization, version).await? else { return Ok(None) };
    let Some(tool) = tool::find(connection, of).await? else { return Ok(None) };
    let variables = variables::read_sealed(connection, of).await?;
    Ok(Some(Callable { tool, version, variables }))
}
