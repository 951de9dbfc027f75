//! The parts of a request that authentication and authorisation read.

use axum::http::HeaderValue;
use axum::http::request::Parts;
use registry::Digest;
use serde_json::json;

use super::credentials::Credentials;
use super::organization::{NamedOrganization, OrganizationSource};
use super::resource::{ResourceKind, ResourceRef};
use crate::extract;
use crate::public_url::{PublicBase, canonicalize};

/// Credentials, organisation and resource of a request, not yet checked. They are checked when the request begins and
/// again while its body arrives.
pub(super) struct AuthRequest {
    /// `None` when the request has no readable credentials.
    pub(super) credentials: Option<Credentials>,
    pub(super) organization: NamedOrganization,
    pub(super) resource: ResourceRef,
    /// The URL that access tokens must be for; `None` where none are accepted, or when the request names no host.
    pub(super) url: Option<String>,
}

/// The organisation and the kind of resource that the path of a route names.
#[derive(Clone, Copy)]
pub(super) struct RequestSubject {
    pub(super) organization: OrganizationSource,
    pub(super) kind: ResourceKind,
}

impl RequestSubject {
    /// The start-up refuses other paths than those of an [`OrganizationSource`].
    pub(super) fn of(path: &str) -> Self {
        let organization = OrganizationSource::of(path).unwrap_or(OrganizationSource::Path);
        Self { organization, kind: ResourceKind::of(path) }
    }
}

impl AuthRequest {
    pub(super) async fn read(parts: &mut Parts, about: RequestSubject, public: Option<&PublicBase>) -> Self {
        let RequestSubject { organization: source, kind } = about;
        let credentials = Credentials::read(&parts.headers);
        let in_path = extract::read_parameter(parts, &(), "organization").await.ok();
        let organization = NamedOrganization::new(source, in_path, &parts.headers);
        let url = public.and_then(|public| public.of(&parts.headers));
        let url = url.map(|base| canonicalize(&format!("{base}{}", parts.uri.path())));
        Self { credentials, organization, resource: ResourceRef::read(parts, kind).await, url }
    }

    /// Returns a digest of the credentials, the organisation and the URL.
    pub(super) fn digest(&self) -> Digest {
        let credentials = self.credentials.as_ref().map(Credentials::digest);
        let NamedOrganization { in_path, in_headers, .. } = &self.organization;
        let headers: Vec<_> = in_headers.iter().map(HeaderValue::as_bytes).collect();
        Digest::of(json!([credentials, in_path, headers, self.url]).to_string().as_bytes())
    }
}
