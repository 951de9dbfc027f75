//! Is the permission of the route theirs? A grant without conditions says so by itself. One with conditions is looked
//! at only where the path names a tool, or a run of one; the tool is read once then, and only then.
//!
//! Without a grant that fits, the answer is 403 also for a tool that does not exist, so that it tells nothing.

use registry::{InvocationId, Permission, Principal, Tool, ToolId};

use super::Guard;
use super::asking::About;
use crate::app::App;
use crate::error::Error;
use crate::extract::PathParameter;

/// What the path of a route names that conditions can look at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Subject {
    Tool,
    /// A run, and through it the tool that ran.
    Invocation,
    /// Lists, creating, git, the scaffold: they need a grant without conditions.
    Nothing,
}

pub(super) async fn check(guard: &Guard, principal: &Principal, about: &About) -> Result<(), Error> {
    let permission = guard.permission;
    if principal.may(permission) {
        return Ok(());
    }
    if principal.may_for_some(permission) {
        let tool = about.tool(&guard.app, principal).await?;
        if tool.is_some_and(|tool| principal.may_for(permission, &tool)) {
            return Ok(());
        }
    }
    Err(Error::Forbidden { permission })
}

/// A permission that an operation on a run takes beside its route's.
pub(crate) async fn require_for_run(
    app: &App,
    principal: &Principal,
    permission: Permission,
    run: &InvocationId,
) -> Result<(), Error> {
    require(principal, permission, app.store().get_tool_of(&principal.organization, run)).await
}

/// The same for an operation on a tool.
pub(crate) async fn require_for_tool(
    app: &App,
    principal: &Principal,
    permission: Permission,
    tool: &ToolId,
) -> Result<(), Error> {
    require(principal, permission, app.store().get_tool(&principal.organization, tool)).await
}

/// The tool is looked at when a grant has conditions, and only then.
async fn require(
    principal: &Principal,
    permission: Permission,
    tool: impl Future<Output = registry::Result<Option<Tool>>>,
) -> Result<(), Error> {
    if principal.may(permission) {
        return Ok(());
    }
    if principal.may_for_some(permission) && tool.await?.is_some_and(|tool| principal.may_for(permission, &tool)) {
        return Ok(());
    }
    Err(Error::Forbidden { permission })
}

/// The same where nothing says yet which tool it will be about: a grant with conditions is none.
pub(crate) fn require_for_all(principal: &Principal, permission: Permission) -> Result<(), Error> {
    if principal.may(permission) { Ok(()) } else { Err(Error::Forbidden { permission }) }
}

impl Subject {
    pub(crate) fn of(path: &str) -> Self {
        let names = |parameter: &str| path.split('/').any(|segment| segment == format!("{{{parameter}}}"));
        if names(ToolId::NAME) {
            Self::Tool
        } else if names(InvocationId::NAME) {
            Self::Invocation
        } else {
            Self::Nothing
        }
    }
}

impl About {
    async fn tool(&self, app: &App, principal: &Principal) -> registry::Result<Option<Tool>> {
        let organization = &principal.organization;
        match self {
            Self::Tool(tool) => app.store().get_tool(organization, tool).await,
            Self::Run(run) => app.store().get_tool_of(organization, run).await,
            Self::Nothing => Ok(None),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Permission, Subject};
    use crate::router::routes;

    #[test]
    fn paths_name_tools_and_runs() {
        assert_eq!(Subject::of("/v1/{organization}/tool/{tool_id}/version/{version}"), Subject::Tool);
        assert_eq!(Subject::of("/v1/{organization}/tool/invocation/{invocation_id}"), Subject::Invocation);
        assert_eq!(Subject::of("/v1/{organization}/tool"), Subject::Nothing);
    }

    /// What takes conditions has an operation where they can hold, and nothing else has.
    #[test]
    fn conditions_can_be_met_where_they_are_accepted() {
        for permission in Permission::grantable() {
            let mut own = routes().into_iter().filter(|route| route.permission == Some(permission));
            let names_tool = own.any(|route| Subject::of(route.path) != Subject::Nothing);
            assert_eq!(names_tool, permission.can_be_conditional(), "{permission}");
        }
    }
}
