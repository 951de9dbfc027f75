//! The organisation in which a request is checked.

use axum::http::{HeaderMap, HeaderName, HeaderValue};

use crate::error::Error;

const HEADER: HeaderName = HeaderName::from_static("x-org-id");

/// The source of the organisation of a route's requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OrganizationSource {
    /// The path, which begins with `/v1/{organization}/`.
    Path,
    /// The user of the credentials. The path begins with `/api/v1/` or `/agents/`.
    User,
}

/// The organisation that a request names. Headers may repeat it.
pub(super) struct NamedOrganization {
    /// The path's organisation. `None` when the path does not name one.
    pub(super) in_path: Option<String>,
    pub(super) in_headers: Vec<HeaderValue>,
    source: OrganizationSource,
}

impl OrganizationSource {
    /// `None` for the path of a route that can only be public.
    pub fn of(path: &str) -> Option<Self> {
        if path.starts_with("/v1/{organization}/") {
            Some(Self::Path)
        } else {
            let is_of_user = path.starts_with("/api/v1/") || path.starts_with("/agents/");
            is_of_user.then_some(Self::User)
        }
    }
}

impl NamedOrganization {
    pub(super) fn new(source: OrganizationSource, in_path: Option<String>, headers: &HeaderMap) -> Self {
        Self { in_path, in_headers: headers.get_all(HEADER).iter().cloned().collect(), source }
    }

    /// Refuses a user of another organisation. The organisation of a path looks as if it did not exist; that of a header alone is
    /// refused, since the path is the same for all.
    pub(super) fn require(&self, own: &str) -> Result<(), Error> {
        let agrees = self.in_headers.iter().all(|value| value.as_bytes() == own.as_bytes());
        match self.source {
            OrganizationSource::Path if agrees && self.in_path.as_deref() == Some(own) => Ok(()),
            OrganizationSource::Path => Err(Error::NotFound),
            OrganizationSource::User if agrees => Ok(()),
            OrganizationSource::User => Err(Error::OrganizationDiffers),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_name(source: OrganizationSource, in_path: Option<&str>, values: &[&'static str]) -> Option<&'static str> {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(HEADER, HeaderValue::from_static(value));
        }
        let named = NamedOrganization::new(source, in_path.map(str::to_owned), &headers);
        named.require("acme").err().map(|error| error.code())
    }

    #[test]
    fn a_path_must_name_the_organization_of_the_user() {
        let path = |in_path, values: &[&'static str]| read_name(OrganizationSource::Path, in_path, values);
        assert_eq!(path(Some("acme"), &[]), None);
        assert_eq!(path(Some("other"), &[]), Some("not_found"));
        assert_eq!(path(None, &["acme"]), Some("not_found"));
    }

    #[test]
    fn a_header_must_name_the_organization_of_the_user() {
        let values: [(&[&'static str], bool); 5] =
            [(&[], true), (&["acme"], true), (&["acme", "other"], false), (&["ACME"], false), (&[""], false)];
        for (values, agrees) in values {
            let (path, user) = (
                read_name(OrganizationSource::Path, Some("acme"), values),
                read_name(OrganizationSource::User, None, values),
            );
            let expected = if agrees { (None, None) } else { (Some("not_found"), Some("organization_differs")) };
            assert_eq!((path, user), expected, "{values:?}");
        }
    }
}
