//! Changes to a tool.

use super::handle::Tools;
use crate::access::Principal;
use crate::error::Result;
use crate::kit::clock::Timestamp;
use crate::kit::ids::ToolId;
use crate::store::changes::{Change, ChangeKind};
use crate::store::database::{Connection, Query};
use crate::store::sql::kit::counts::require_changed;
use crate::tools::ToolRef;

const TOUCH: &str = "UPDATE tools SET updated_by = $3, updated_at = $4
    WHERE organization = $1 AND tool = $2 AND deprecated = 0";

/// A change to a tool by a user.
pub(in crate::store::sql) struct ToolEdit {
    pub principal: Principal,
    pub tool: ToolId,
    pub now: Timestamp,
}

impl Tools {
    pub(in crate::store::sql) fn build_edit(&self, principal: &Principal, tool: &ToolId) -> ToolEdit {
        ToolEdit { principal: principal.clone(), tool: tool.clone(), now: self.store.0.clock.now() }
    }
}

/// A live tool.
const LIVE: &str = "SELECT tool FROM tools WHERE organization = $1 AND tool = $2 AND deprecated = 0";

impl ToolEdit {
    pub const fn tool(&self) -> ToolRef<'_> {
        ToolRef { organization: &self.principal.organization, tool: &self.tool }
    }

    /// Fails when the tool does not exist or is deprecated.
    pub async fn require_tool(&self, connection: &mut Connection) -> Result<()> {
        let query = Query::new(LIVE).bind(self.principal.organization.as_str()).bind(self.tool.as_str());
        let found = query.fetch_optional(connection).await?;
        require_changed(found.map_or(0, |_| 1), "tool")
    }

    /// Records the user and the time of the change. Fails when the tool does not exist or is deprecated.
    pub async fn touch(&self, connection: &mut Connection) -> Result<()> {
        let query = Query::new(TOUCH).bind(self.principal.organization.as_str()).bind(self.tool.as_str());
        let query = query.bind(self.principal.user().as_str()).bind(self.now.as_milliseconds());
        require_changed(query.execute(&mut *connection).await?, "tool")?;
        connection.announce(Change::of_organization(ChangeKind::Tools, &self.principal.organization));
        Ok(())
    }
}
