//! The forms of credentials: `Bearer <id_token>`, `Bearer <API key>`, and Basic, which git and package installers use. The name of Basic is
//! `<organisation>_<user>` or `<user>`; its password is an id token or an API key. Routes of MCP also accept `Bearer <access token>`.

use axum::http::HeaderMap;
use axum::http::header::AUTHORIZATION;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use registry::{ApiKeyId, Digest, Principal, Store, is_access_token};
use serde_json::json;

use crate::error::Error;

/// Length of the `Authorization` header. Longer headers are not decoded; every name with its token is shorter.
const HEADER_BYTES_MAX: usize = 1024;

/// The credentials of a request, not yet checked.
pub(super) struct Credentials {
    name: Option<String>,
    secret: String,
    /// The id of the API key that is the secret; `None` for an id token.
    key: Option<ApiKeyId>,
    scheme: Scheme,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Scheme {
    Basic,
    Bearer,
}

impl Credentials {
    /// Reads the credentials of a request; `None` when there are none, several, or unreadable ones.
    pub(super) fn read(headers: &HeaderMap) -> Option<Self> {
        let mut values = headers.get_all(AUTHORIZATION).iter();
        let (Some(value), None) = (values.next(), values.next()) else { return None };
        let text = value.to_str().ok().filter(|text| text.len() <= HEADER_BYTES_MAX)?;
        let (scheme, rest) = text.split_once(' ')?;
        match scheme.to_ascii_lowercase().as_str() {
            "bearer" => Some(Self::from_bearer(rest.trim())),
            "basic" => Self::parse_basic(rest.trim()),
            _ => None,
        }
    }

    fn from_bearer(secret: &str) -> Self {
        let (key, scheme) = (ApiKeyId::of_key(secret), Scheme::Bearer);
        Self { name: None, secret: secret.to_owned(), key, scheme }
    }

    fn parse_basic(encoded: &str) -> Option<Self> {
        let decoded = String::from_utf8(STANDARD.decode(encoded).ok()?).ok()?;
        let (name, secret) = decoded.split_once(':')?;
        Some(Self {
            name: Some(name.to_owned()),
            secret: secret.to_owned(),
            key: ApiKeyId::of_key(secret),
            scheme: Scheme::Basic,
        })
    }

    /// Returns a digest of the credentials.
    pub(super) fn digest(&self) -> Digest {
        let Self { name, secret, scheme, .. } = self;
        Digest::of(json!([name, secret, format!("{scheme:?}")]).to_string().as_bytes())
    }

    /// Returns the user whom the credentials belong to, if they are right.
    pub(super) async fn find_principal(&self, store: &Store) -> registry::Result<Option<Principal>> {
        let found = match &self.key {
            Some(_) => store.access().authenticate_key(&self.secret).await?,
            None => store.access().authenticate(&self.secret).await?,
        };
        Ok(found.filter(|principal| self.may_be_of(principal)))
    }

    /// The error for credentials that are not right. The holder of a whole API key learns that it expired or was revoked.
    pub(super) async fn explain_refusal(&self, store: &Store) -> registry::Result<Error> {
        let ended = match &self.key {
            Some(_) => store.access().find_key_end(&self.secret).await?,
            None => None,
        };
        Ok(ended.map_or(Error::Unauthenticated, Error::KeyEnded))
    }

    /// The access token of an OAuth client, if the secret is one.
    pub(super) fn access_token(&self) -> Option<&str> {
        let is_access = self.scheme == Scheme::Bearer && is_access_token(&self.secret);
        is_access.then_some(self.secret.as_str())
    }

    /// The id of the API key, if the secret is one.
    pub(super) fn key(&self) -> Option<&ApiKeyId> {
        self.key.as_ref()
    }

    /// The user in the name, which may begin with the organisation.
    pub(super) fn user(&self, organization: &str) -> &str {
        let name = self.name.as_deref().unwrap_or_default();
        name.strip_prefix(organization).and_then(|rest| rest.strip_prefix('_')).unwrap_or(name)
    }

    /// Whether the credentials have no name or the principal's name.
    fn may_be_of(&self, principal: &Principal) -> bool {
        let user = principal.account.user_str();
        self.name.as_deref().is_none_or(|name| name == user || self.user(principal.organization.as_str()) == user)
    }
}

#[cfg(test)]
mod tests {
    use axum::http::{HeaderMap, HeaderValue, header::AUTHORIZATION};
    use registry::{AccountId, ApiKeyId, Grants, OrganizationId, Principal};

    use super::{Credentials, STANDARD};
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
            account: AccountId::parse("eve_1#1").unwrap(),
            grants: Grants::default(),
            key: None,
            agent: None,
            address: None,
        }
    }

    #[test]
    fn bearer_carries_the_token() {
        assert_eq!(read(&["bearer abc"]).unwrap().secret, "abc");
    }

    #[test]
    fn basic_carries_name_and_token() {
        let credentials = read(&[&format!("Basic {}", STANDARD.encode("acme_labs_eve_1:a:b"))]).unwrap();
        assert_eq!(credentials.secret, "a:b");
        assert!(credentials.may_be_of(&principal()) && credentials.key().is_none());
        let short = read(&[&format!("Basic {}", STANDARD.encode("eve_1:t"))]).unwrap();
        assert!(short.may_be_of(&principal()) && short.user("acme_labs") == credentials.user("acme_labs"));
    }

    #[test]
    fn a_key_is_told_from_a_token() {
        let id = ApiKeyId::parse(&"a".repeat(12)).unwrap();
        let key = id.make_key(&"b".repeat(43)).expose().to_owned();
        let basic = read(&[&format!("Basic {}", STANDARD.encode(format!("eve_1:{key}")))]).unwrap();
        assert_eq!(basic.key(), Some(&id));
        let bearer = read(&[&format!("Bearer {key}")]).unwrap();
        assert_eq!(bearer.key(), basic.key());
        assert!(read(&["Bearer abc"]).unwrap().key().is_none());
    }

    #[test]
    fn the_name_of_another_user_is_not_accepted() {
        for name in ["acme_labs_eve", "acme_labs", "acme_labs_eve_12", "", "eve", "_eve_1"] {
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
}
