//! The resource that a path names and that conditions of grants are about.

use axum::http::request::Parts;
use registry::{AgentId, Principal, RunId, Store, Tool, ToolId, ToolName};

use crate::extract::{self, PathParameter};

/// The kind of resource that the path of a route names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResourceKind {
    Tool,
    /// A live tool, by its name.
    ToolName,
    /// A run, and through it the tool that ran.
    Invocation,
    /// Lists, creation, agents, git and the scaffold, which need a grant without conditions.
    None,
}

/// The resource that the path of a request names.
pub(super) enum ResourceRef {
    Tool(ToolId),
    ToolName(ToolName),
    Invocation(RunId),
    /// No resource, or an invalid id.
    None,
}

impl ResourceKind {
    pub fn of(path: &str) -> Self {
        let names = |parameter: &str| path.split('/').any(|segment| segment == format!("{{{parameter}}}"));
        // The tool of an assignment is a part of its agent.
        if names(AgentId::NAME) {
            return Self::None;
        }
        if names(ToolId::NAME) {
            Self::Tool
        } else if names(ToolName::NAME) {
            Self::ToolName
        } else if names(RunId::NAME) {
            Self::Invocation
        } else {
            Self::None
        }
    }
}

impl ResourceRef {
    pub(super) async fn read(parts: &mut Parts, kind: ResourceKind) -> Self {
        let read = match kind {
            ResourceKind::Tool => read_parameter(parts).await.map(Self::Tool),
            ResourceKind::ToolName => read_parameter(parts).await.map(Self::ToolName),
            ResourceKind::Invocation => read_parameter(parts).await.map(Self::Invocation),
            ResourceKind::None => None,
        };
        read.unwrap_or(Self::None)
    }

    /// Returns the tool that conditions are about.
    pub(super) async fn find_tool(&self, store: &Store, principal: &Principal) -> registry::Result<Option<Tool>> {
        let organization = &principal.organization;
        match self {
            Self::Tool(tool) => store.tools().get_tool(organization, tool).await,
            Self::ToolName(name) => store.tools().find_live_tool(organization, name).await,
            Self::Invocation(invocation) => store.tools().get_tool_of(organization, invocation).await,
            Self::None => Ok(None),
        }
    }
}

async fn read_parameter<T: PathParameter>(parts: &mut Parts) -> Option<T> {
    let text = extract::read_parameter(parts, &(), T::NAME).await.ok()?;
    T::parse_parameter(&text).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_name_tools_and_runs() {
        let tool = ResourceKind::of("/v1/{organization}/tool/{tool_id}/version/{version}");
        assert_eq!(tool, ResourceKind::Tool);
        let named = ResourceKind::of("/v1/{organization}/tool/by-name/{tool_name}/version/{version}/invoke");
        assert_eq!(named, ResourceKind::ToolName);
        let invocation = ResourceKind::of("/v1/{organization}/tool/invocation/{invocation_id}");
        assert_eq!(invocation, ResourceKind::Invocation);
        assert_eq!(ResourceKind::of("/v1/{organization}/tool"), ResourceKind::None);
    }
}
