//! Calls of the server's own tools, with what these tools may reach of the store.

mod conversation_runs;

use std::sync::Arc;

use registry::{AgentCall, CallerNames, Principal};
use runner::{NativeCall, NativeToolSpec, ToolCaller};
use serde_json::{Map, Value};

use crate::domain::library::{LibraryScope, Provenance};
use crate::store::AgentStore;
use crate::store::Library;
pub(crate) use conversation_runs::ConversationRuns;

/// The declaration of a tool whose handler takes a [`PlatformCall`].
pub(crate) type PlatformToolSpec = NativeToolSpec<PlatformCall>;

/// A call of one of the server's own tools. The arguments match its input schema.
pub struct PlatformCall {
    pub principal: Principal,
    pub agent_call: Option<AgentCall>,
    /// `None` outside of a turn.
    pub runs: Option<ConversationRuns>,
    pub library: Library,
    /// The URL of the server, before the paths of links to it.
    pub base_url: Arc<str>,
    pub arguments: Map<String, Value>,
}

impl PlatformCall {
    /// A call with the Library of its user, and with the runs of its conversation.
    pub(crate) fn new(store: &AgentStore, call: NativeCall) -> Self {
        let NativeCall { run, caller, base_url, arguments } = call;
        let ToolCaller { principal, via, names: CallerNames { app, workflow }, .. } = caller;
        let agent_call = via.agent_call().cloned();
        let agent = agent_call.as_ref().map(|call| call.agent.clone());
        let is_trusted = agent.is_none() && workflow.is_none();
        let scope =
            LibraryScope { organization: principal.organization.clone(), account: principal.account.clone(), app };
        let library = store.library(scope, Provenance { invocation: Some(run), agent, workflow, is_trusted });
        let turn = agent_call.as_ref().and_then(|call| call.turn.clone());
        let (conversations, organization) = (store.conversations(), principal.organization.clone());
        let runs = turn.map(|turn| ConversationRuns { conversations, organization, turn });
        Self { principal, agent_call, runs, library, base_url, arguments }
    }
}
