//! The sessions of clients of earlier protocol versions. A session belongs to the user and the agent that began it. A user with too many
//! sessions loses the one that was used the longest time ago, and nobody else loses one.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use api_kit::body_end::{OnBodyEnd, attach_end};
use api_kit::error::Error;
use axum::http::HeaderMap;
use axum::response::Response;
use parking_lot::Mutex;
use registry::{AccountId, AgentId, OrganizationId};
use rmcp::transport::streamable_http_server::session::SessionManager as _;
use rmcp::transport::streamable_http_server::session::local::{LocalSessionManager, SessionConfig};
use tokio::time::timeout;

use super::session_table::{Owner, SessionNumber, SessionTable};
use crate::calls::Scope;
use crate::messages::find_method;

/// The header with the id of a session.
pub const SESSION: &str = "mcp-session-id";
/// The method of the message that begins a session.
pub const INITIALIZE: &str = "initialize";
/// Time without a message of the client after which a session ends.
pub const SESSION_IDLE_MAX: Duration = Duration::from_mins(5);
/// Bytes of the message that begins a session, which stays in memory with the name and the capabilities of the client. Clients need
/// less than two thousand.
const INITIALIZE_BYTES_MAX: usize = 16 << 10;
/// Messages of each stream of a session that wait for the client or are kept for a client that connects again. A log message has up to
/// some 16 KiB.
const EVENTS_MAX: usize = 4;
/// Time in which an evicted session ends.
const ENDED_WITHIN: Duration = Duration::from_secs(30);

/// The sessions of a server. Clones share them.
#[derive(Clone)]
pub struct Sessions {
    pub manager: Arc<LocalSessionManager>,
    table: Arc<Mutex<SessionTable>>,
}

/// The place of a session among those of its user, which is free again when the last clone is gone: the session has ended, or did not
/// begin.
#[derive(Clone)]
pub struct SessionPlace(Arc<Place>);

struct Place {
    number: SessionNumber,
    /// Unknown before the session has begun.
    id: OnceLock<Arc<str>>,
    sessions: Sessions,
}

impl Drop for Place {
    fn drop(&mut self) {
        self.sessions.table.lock().remove(self.number);
    }
}

/// A request of a session, until its response has ended. A session with a request is not evicted.
pub struct SessionUse {
    number: SessionNumber,
    table: Arc<Mutex<SessionTable>>,
}

impl Drop for SessionUse {
    fn drop(&mut self) {
        self.table.lock().end_use(self.number);
    }
}

impl OnBodyEnd for SessionUse {
    fn on_body_end(self, _is_complete: bool) {}
}

impl Default for Sessions {
    fn default() -> Self {
        let mut manager = LocalSessionManager::default();
        manager.session_config = SessionConfig::default();
        manager.session_config.channel_capacity = EVENTS_MAX;
        manager.session_config.keep_alive = Some(SESSION_IDLE_MAX);
        Self { manager: Arc::new(manager), table: Arc::default() }
    }
}

impl Sessions {
    /// Notes that a client uses its session. `None` for a session that is not of the request's user and agent.
    pub fn begin_use(&self, headers: &HeaderMap, scope: &Scope) -> Option<SessionUse> {
        let id = headers.get(SESSION)?.to_str().ok()?;
        let number = self.table.lock().begin_use(id, &find_owner(scope))?;
        Some(SessionUse { number, table: self.table.clone() })
    }

    /// Finds a place for the session that a message begins; `None` for another message. May evict a session of the user.
    ///
    /// # Errors
    /// When the message is too large, or when no session can be evicted.
    pub fn begin(&self, message: &[u8], scope: &Scope) -> Result<Option<SessionPlace>, Error> {
        // Messages without a session are small, but for calls of the present version, which name their method in a header.
        if message.len() > INITIALIZE_BYTES_MAX {
            return Err(Error::TooLarge { bytes_max: INITIALIZE_BYTES_MAX });
        }
        if find_method(message).is_none_or(|method| method != INITIALIZE) {
            return Ok(None);
        }
        let (number, evicted) = self.table.lock().add(find_owner(scope)).ok_or_else(refuse_session)?;
        if let Some(evicted) = evicted {
            self.end(evicted);
        }
        Ok(Some(SessionPlace(Arc::new(Place { number, id: OnceLock::new(), sessions: self.clone() }))))
    }

    /// Ends the session that a response begins although its message was not seen to begin one. Returns whether there is one.
    pub fn refuse(&self, response: &HeaderMap) -> bool {
        let id = response.get(SESSION).and_then(|id| id.to_str().ok());
        id.into_iter().for_each(|id| self.end(id.into()));
        id.is_some()
    }

    /// Ends a session that the table does not have any more.
    fn end(&self, id: Arc<str>) {
        let manager = self.manager.clone();
        // The one who needs its place does not wait.
        tokio::spawn(async move {
            // A session that a slow client blocks ends with its connection.
            if let Ok(Err(error)) = timeout(ENDED_WITHIN, manager.close_session(&id)).await {
                tracing::debug!(%error, "a session of an MCP client did not end");
            }
        });
    }
}

impl SessionPlace {
    /// Notes the id of the session that has begun with a response.
    pub fn bind(&self, response: &HeaderMap) {
        if let Some(id) = response.get(SESSION).and_then(|id| id.to_str().ok()) {
            let id: Arc<str> = id.into();
            self.0.sessions.table.lock().name(self.0.number, &id);
            // Named once.
            let _ = self.0.id.set(id);
        }
    }

    /// Ends the session if its client has sent nothing for a while. What the server sends does not count.
    pub fn end_if_idle(&self) {
        let Some(id) = self.0.id.get() else { return };
        if self.0.sessions.table.lock().is_idle(self.0.number, SESSION_IDLE_MAX) {
            self.0.sessions.end(id.clone());
        }
    }
}

impl SessionUse {
    /// Forgets the session, which its client has ended.
    pub fn forget(self) {
        self.table.lock().remove(self.number);
    }

    /// Keeps the session in use until the response has ended.
    pub fn keep_until_end_of(self, response: Response) -> Response {
        attach_end(response, self)
    }
}

fn refuse_session() -> Error {
    let detail =
        "All of your MCP sessions have a request in progress. End one, or wait for its response, then begin another.";
    Error::TooMany { code: "too_many_sessions", detail: detail.into() }
}

fn find_owner(scope: &Scope) -> Owner {
    let Scope { principal, running, .. } = scope;
    let (organization, account): (OrganizationId, AccountId) =
        (principal.organization.clone(), principal.account.clone());
    let agent: AgentId = running.agent.id.clone();
    Owner { organization, account, agent }
}
