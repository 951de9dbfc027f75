//! The user and the agent of one MCP request.

use std::sync::Arc;

use agents::{Catalogue, LibraryScope, RunningAgent};
use api_kit::auth::Rights;
use axum::http::request::Parts;
use registry::{AgentId, CallerNames, Principal};
use rmcp::ErrorData;
use rmcp::model::Extensions;
use runner::Depth;

/// The user and the agent of a request, checked at its beginning. Each request of a session has a scope of its own.
#[derive(Clone)]
pub struct Scope {
    pub principal: Principal,
    pub running: Arc<RunningAgent>,
    pub rights: Rights,
    /// The number of tool runs that led to the request.
    pub depth: Depth,
    pub names: CallerNames,
    /// The tools that the user sees. `None` in what lives longer than a request: each catalogue has up to some megabytes.
    pub catalogue: Option<Arc<Catalogue>>,
}

/// The user and the agent of what lives longer than a request, without the agent's revision, which has up to some megabytes.
#[derive(Clone)]
pub struct Viewpoint {
    /// The user whose items of the Library are read.
    pub library: LibraryScope,
    pub agent: AgentId,
    pub rights: Rights,
}

impl Scope {
    /// The part of the scope that sessions and streams keep after the request.
    pub fn viewpoint(&self) -> Viewpoint {
        let Self { principal, names, .. } = self;
        let (organization, account) = (principal.organization.clone(), principal.account.clone());
        let library = LibraryScope { organization, account, app: names.app.clone() };
        Viewpoint { library, agent: self.running.agent.id.clone(), rights: self.rights.clone() }
    }

    /// The tools that the user sees.
    pub fn catalogue(&self) -> Result<&Arc<Catalogue>, ErrorData> {
        self.catalogue.as_ref().ok_or_else(|| ErrorData::internal_error("the request has no tools", None))
    }

    /// Finds the scope that the endpoint added to the request, or to a plain call.
    pub fn of(extensions: &Extensions) -> Result<&Arc<Self>, ErrorData> {
        let of_request = || extensions.get::<Parts>()?.extensions.get::<Arc<Self>>();
        extensions
            .get::<Arc<Self>>()
            .or_else(of_request)
            .ok_or_else(|| ErrorData::internal_error("the request has no scope", None))
    }
}
