//! The sessions of clients of earlier protocol versions. A session belongs to the user and the agent that began it.

use std::sync::Arc;

use axum::http::HeaderMap;
use dashmap::DashMap;
use registry::{AgentId, OrganizationId, UserId};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;

use super::scope::Scope;

/// The header with the id of a session.
pub(super) const SESSION: &str = "mcp-session-id";
/// Sessions of one server, each with a task and some buffers.
const SESSIONS_MAX: usize = 10_000;
/// Sessions of one user: more than the machines and windows of a person.
const SESSIONS_OF_USER_MAX: usize = 1_000;

/// The sessions of a server and their owners.
#[derive(Clone, Default)]
pub(super) struct Sessions {
    pub manager: Arc<LocalSessionManager>,
    owners: Arc<DashMap<Arc<str>, Owner>>,
}

/// The user and the agent of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Owner {
    organization: OrganizationId,
    user: UserId,
    agent: AgentId,
}

impl Owner {
    fn of(scope: &Scope) -> Self {
        let Scope { principal, running, .. } = scope;
        Self {
            organization: principal.organization.clone(),
            user: principal.user.clone(),
            agent: running.agent.id.clone(),
        }
    }
}

impl Sessions {
    /// Whether the request names no session, or one of its user and agent.
    pub fn admits(&self, headers: &HeaderMap, scope: &Scope) -> bool {
        let Some(session) = headers.get(SESSION) else { return true };
        let owner = session.to_str().ok().and_then(|session| self.owners.get(session).map(|owner| owner.clone()));
        owner.is_some_and(|owner| owner == Owner::of(scope))
    }

    /// Whether the user may begin another session. Forgets sessions that have ended when a bound is reached.
    pub async fn has_room(&self, scope: &Scope) -> bool {
        if self.is_below_bounds(scope) {
            return true;
        }
        let living = self.manager.sessions.read().await;
        self.owners.retain(|session, _| living.contains_key(session));
        drop(living);
        self.is_below_bounds(scope)
    }

    fn is_below_bounds(&self, scope: &Scope) -> bool {
        let owner = Owner::of(scope);
        let is_own = |other: &Owner| other.organization == owner.organization && other.user == owner.user;
        self.owners.len() < SESSIONS_MAX
            && self.owners.iter().filter(|entry| is_own(entry.value())).count() < SESSIONS_OF_USER_MAX
    }

    /// Binds the session that a response begins, if it begins one, to its user and agent.
    pub fn bind(&self, response: &HeaderMap, scope: &Scope) {
        if let Some(session) = response.get(SESSION).and_then(|session| session.to_str().ok()) {
            self.owners.insert(session.into(), Owner::of(scope));
        }
    }

    /// Forgets the session of a request that ended it.
    pub fn forget(&self, headers: &HeaderMap) {
        if let Some(session) = headers.get(SESSION).and_then(|session| session.to_str().ok()) {
            self.owners.remove(session);
        }
    }
}
