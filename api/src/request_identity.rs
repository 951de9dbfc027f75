//! The user of a request, for the log and the trace of the request.

use std::sync::{Arc, OnceLock};

use registry::{OrganizationId, Principal, UserId};

/// An extension of each request, which the guard of its route fills. Clones share the user.
#[derive(Clone, Debug, Default)]
pub(crate) struct RequestIdentity(Arc<OnceLock<(OrganizationId, UserId)>>);

impl RequestIdentity {
    pub(crate) fn set(&self, principal: &Principal) {
        self.0.get_or_init(|| (principal.organization.clone(), principal.user.clone()));
    }

    pub(crate) fn get(&self) -> Option<&(OrganizationId, UserId)> {
        self.0.get()
    }
}
