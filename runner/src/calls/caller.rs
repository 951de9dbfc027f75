//! The caller of a tool, as plain data.

use registry::{CallVia, CallerNames, InvocationSource, Principal};
use serde::{Deserialize, Serialize};

/// The caller of a tool: the user on whose behalf the tool runs, and the circumstances of the call, which the calls of its runs
/// inherit.
#[derive(Debug, Clone)]
pub struct ToolCaller {
    /// The user, with the key and the address of the request.
    pub principal: Principal,
    pub source: InvocationSource,
    pub via: CallVia,
    pub names: CallerNames,
    pub conversation: Option<Conversation>,
}

/// The document about its conversation that a tool receives.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Conversation {
    pub conversation_id: Option<String>,
    pub interaction_id: Option<String>,
    pub user_id: String,
}

impl ToolCaller {
    /// A user who calls a tool in person, or by a program.
    #[must_use]
    pub fn direct(principal: Principal) -> Self {
        Self {
            source: InvocationSource::Direct { user_id: principal.user().into() },
            principal,
            via: CallVia::Direct,
            names: CallerNames::default(),
            conversation: None,
        }
    }

    /// The caller of a call that a run of this caller makes.
    pub(crate) fn for_nested_call(&self) -> Self {
        let caller = self.clone();
        Self { via: caller.via.for_nested_call(), ..caller }
    }
}
