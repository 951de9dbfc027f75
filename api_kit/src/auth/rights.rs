//! The rights of a request that lasts.

use std::sync::Arc;

use registry::{Digest, Principal};

use super::auth_request::AuthRequest;
use super::check::AccessCheck;
use crate::error::Error;

/// The check of a request, to be repeated while its body arrives or its response is written. Clones share it.
#[derive(Clone)]
pub struct Rights(Arc<Checked>);

struct Checked {
    access: AccessCheck,
    request: AuthRequest,
}

impl Rights {
    pub(super) fn new(access: AccessCheck, request: AuthRequest) -> Self {
        Self(Arc::new(Checked { access, request }))
    }

    /// Returns a digest of everything that the check depends on, of a route whose paths name no resource but an agent. Rights with
    /// the same digest begin and end together.
    pub fn digest(&self) -> Digest {
        let AccessCheck { permission, bearers, .. } = &self.0.access;
        let subject = format!("{permission:?} {bearers:?} {}", self.0.request.digest());
        Digest::of(subject.as_bytes())
    }

    /// Returns the user with the present grants. An error when the rights have ended.
    pub async fn check(&self) -> Result<Principal, Error> {
        self.0.access.check(&self.0.request).await
    }
}
