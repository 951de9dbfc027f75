//! The two forms of credentials: `Bearer <id_token>`, and Basic with `<organisation>_<user>` as name and the id token as
//! password, which git and package installers use. `X-ORG-ID` may repeat the organisation.

use axum::http::header::AUTHORIZATION;
use axum::http::{HeaderMap, HeaderName};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use registry::Principal;

const ORGANIZATION: HeaderName = HeaderName::from_static("x-org-id");

/// Length of the `Authorization` header. Longer headers are not decoded; every name with its token is shorter.
const HEADER_BYTES_MAX: usize = 1024;

/// The credentials of a request, not yet checked.
pub(super) struct Credentials {
    name: Option<String>,
    id_token: String,
}

impl Credentials {
    /// Reads the credentials of a request; `None` when there are none, several, or unreadable ones.
    pub(super) fn read(headers: &HeaderMap) -> Option<Self> {
        let mut values = headers.get_all(AUTHORIZATION).iter();
        let (Some(value), None) = (values.next(), values.next()) else { return None };
        let text = value.to_str().ok().filter(|text| text.len() <= HEADER_BYTES_MAX)?;
        let (scheme, rest) = text.split_once(' ')?;
        match scheme.to_ascii_lowercase().as_str() {
            "bearer" => Some(Self { name: None, id_token: rest.trim().to_owned() }),
            "basic" => Self::basic(rest.trim()),
            _ => None,
        }
    }

    fn basic(encoded: &str) -> Option<Self> {
        let decoded = String::from_utf8(STANDARD.decode(encoded).ok()?).ok()?;
        let (name, id_token) = decoded.split_once(':')?;
        Some(Self { name: Some(name.to_owned()), id_token: id_token.to_owned() })
    }

    pub(super) fn id_token(&self) -> &str {
        &self.id_token
    }

    /// Whether the credentials have no name or the principal's name.
    pub(super) fn may_be_of(&self, principal: &Principal) -> bool {
        let Some(name) = &self.name else { return true };
        let user = name.strip_prefix(principal.organization.as_str()).and_then(|rest| rest.strip_prefix('_'));
        user == Some(principal.user.as_str())
    }
}

/// Whether no header names another organisation than this one.
pub(super) fn names_only(headers: &HeaderMap, organization: &str) -> bool {
    headers.get_all(ORGANIZATION).iter().all(|value| value.as_bytes() == organization.as_bytes())
}

#[cfg(test)]
mod tests {
    use axum::http::{HeaderMap, HeaderValue, header::AUTHORIZATION};
    use registry::{Grants, OrganizationId, Principal, UserId};

    use super::{Credentials, ORGANIZATION, STANDARD, names_only};
    use base64::Engine;

    fn read(values: &[&str]) -> Option<Credentials> {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(AUTHORIZATION, HeaderValue::from_str(value).unwrap());
        }
        Credentials::read(&headers)
    }

    fn principal() -> Principal {
        Principal {
            organization: OrganizationId::parse("acme_labs").unwrap(),
            user: UserId::parse("eve_1").unwrap(),
            grants: Grants::default(),
            key_ends_at: None,
        }
    }

    #[test]
    fn bearer_carries_the_token() {
        assert_eq!(read(&["bearer abc"]).unwrap().id_token(), "abc");
    }

    #[test]
    fn basic_carries_name_and_token() {
        let credentials = read(&[&format!("Basic {}", STANDARD.encode("acme_labs_eve_1:a:b"))]).unwrap();
        assert_eq!(credentials.id_token(), "a:b");
        assert!(credentials.may_be_of(&principal()));
    }

    #[test]
    fn the_name_of_another_user_is_not_accepted() {
        for name in ["acme_labs_eve", "acme_labs", "acme_labs_eve_12", "", "eve_1", "_eve_1"] {
            let credentials = read(&[&format!("Basic {}", STANDARD.encode(format!("{name}:t")))]).unwrap();
            assert!(!credentials.may_be_of(&principal()), "{name}");
        }
    }

    #[test]
    fn unreadable_credentials_are_none() {
        for values in [&["Token x"][..], &["Basic !"], &["Basic YQ=="], &["Bearer"], &["Bearer a", "Bearer b"], &[]] {
            assert!(read(values).is_none(), "{values:?}");
        }
    }

    #[test]
    fn a_header_must_name_the_same_organization() {
        for (values, expected) in
            [(&[][..], true), (&["acme"], true), (&["acme", "other"], false), (&["ACME"], false), (&[""], false)]
        {
            let mut headers = HeaderMap::new();
            for value in values {
                headers.append(ORGANIZATION, HeaderValue::from_static(value));
            }
            assert_eq!(names_only(&headers, "acme"), expected, "{values:?}");
        }
    }
}
