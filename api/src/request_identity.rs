//! The user, the tool and the runs of a request, for the log and the trace of the request.

use std::sync::{Arc, OnceLock};

use registry::{InvocationId, OrganizationId, Principal, ToolId, UserId};

/// An extension of each request, which the guard of its route and its work fill. Clones share the contents.
#[derive(Clone, Debug, Default)]
pub(crate) struct RequestIdentity(Arc<Contents>);

#[derive(Debug, Default)]
struct Contents {
    user: OnceLock<(OrganizationId, UserId)>,
    tool: OnceLock<ToolId>,
    runs: OnceLock<Vec<InvocationId>>,
}

impl RequestIdentity {
    pub(crate) fn set(&self, principal: &Principal) {
        self.0.user.get_or_init(|| (principal.organization.clone(), principal.user()));
    }

    /// Sets the tool that the path names, by its id or by its name.
    pub(crate) fn set_tool(&self, tool: &ToolId) {
        self.0.tool.get_or_init(|| tool.clone());
    }

    /// Sets the run that the path names, or the runs that the request began.
    pub(crate) fn set_runs(&self, runs: impl IntoIterator<Item = InvocationId>) {
        self.0.runs.get_or_init(|| runs.into_iter().collect());
    }

    pub(crate) fn get(&self) -> Option<&(OrganizationId, UserId)> {
        self.0.user.get()
    }

    pub(crate) fn tool(&self) -> Option<&ToolId> {
        self.0.tool.get()
    }

    /// The ids of the runs, separated by commas.
    pub(crate) fn runs(&self) -> Option<String> {
        let runs = self.0.runs.get()?;
        Some(runs.iter().map(InvocationId::as_str).collect::<Vec<_>>().join(","))
    }
}
