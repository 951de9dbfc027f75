//! The parts of a request that authentication and authorisation read.

use axum::http::request::Parts;

use super::credentials::{Credentials, names_only};
use super::resource::{ResourceKind, ResourceRef};
use crate::extract;
use crate::public_url::PublicBase;

/// Credentials, organisation and resource of a request, not yet checked. They are checked when the request begins and
/// again while its body arrives.
pub(super) struct AuthRequest {
    /// `None` when the request has no readable credentials.
    pub(super) credentials: Option<Credentials>,
    /// The path's organisation; `None` when the headers name another one.
    pub(super) organization: Option<String>,
    pub(super) resource: ResourceRef,
    /// The URL that access tokens must be for; `None` where none are accepted, or when the request names no host.
    pub(super) url: Option<String>,
}

impl AuthRequest {
    pub(super) async fn read(parts: &mut Parts, kind: ResourceKind, public: Option<&PublicBase>) -> Self {
        let credentials = Credentials::read(&parts.headers);
        let organization = extract::parameter(parts, &(), "organization").await.ok();
        let organization = organization.filter(|organization| names_only(&parts.headers, organization));
        let url = public.and_then(|public| public.of(&parts.headers));
        let url = url.map(|base| format!("{base}{}", parts.uri.path().trim_end_matches('/')));
        Self { credentials, organization, resource: ResourceRef::read(parts, kind).await, url }
    }
}
