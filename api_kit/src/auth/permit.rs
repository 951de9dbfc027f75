//! Permissions of a principal. A grant without conditions suffices by itself. A grant with conditions needs the tool
//! that the path names, or the tool of the run that it names; only then is the tool read, once.
//!
//! Without a matching grant, the response is 403 for a tool that does not exist, too, so that it does not reveal which
//! tools exist.

use registry::{Permission, Principal, RunId, Store, Tool, ToolId};

use crate::error::Error;

/// A permission that a principal needs.
#[derive(Clone, Copy)]
pub struct Requirement<'a> {
    pub principal: &'a Principal,
    pub permission: Permission,
}

impl Requirement<'_> {
    /// Requires the permission for the tool of a run.
    pub async fn require_for_run(self, store: &Store, run: &RunId) -> Result<(), Error> {
        self.require_for_read_tool(store.tools().get_tool_of(&self.principal.organization, run)).await
    }

    pub async fn require_for_tool(self, store: &Store, tool: &ToolId) -> Result<(), Error> {
        self.require_for_read_tool(store.tools().get_tool(&self.principal.organization, tool)).await
    }

    /// Requires a grant without conditions: the tool is not known yet.
    pub fn require_for_every_tool(self) -> Result<(), Error> {
        let Self { principal, permission } = self;
        if principal.may(permission) { Ok(()) } else { Err(Error::Forbidden { permission }) }
    }

    /// Requires the permission for the tool that `read` returns, and reads only if a grant has conditions.
    pub(super) async fn require_for_read_tool(
        self,
        read: impl Future<Output = registry::Result<Option<Tool>>>,
    ) -> Result<(), Error> {
        let Self { principal, permission } = self;
        if principal.may(permission) {
            return Ok(());
        }
        if principal.may_for_some(permission) && read.await?.is_some_and(|tool| principal.may_for(permission, &tool)) {
            return Ok(());
        }
        Err(Error::Forbidden { permission })
    }
}
