//! Authorisations of OAuth clients by users: codes, access tokens, refresh tokens, and clients that registered themselves.
//!
//! Codes and tokens have the format `{prefix}_{secret}_{checksum}`: `lac_…` is a code, `lat_…` an access token, `lrt_…` a refresh
//! token. The secret has 43 characters, which carry 256 bits; the checksum is that of API keys. Only a keyed hash is stored.

use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest as _, Sha256};

use super::api_key::{SECRET_CHARACTERS, compute_checksum, is_base62};
use crate::kit::random;
use crate::kit::text_type::{made_of, text_type};
use crate::tools::SecretValue;

/// Time in which a code can be exchanged: a redirect and a request.
pub(crate) const CODE_LIFETIME: Duration = Duration::from_secs(60);
/// Lifetime of an access token. A stolen one is of use no longer.
pub const ACCESS_LIFETIME: Duration = Duration::from_hours(1);
/// Lifetime of a refresh token. A client that is not used for as long needs its user again.
pub(crate) const REFRESH_LIFETIME: Duration = Duration::from_hours(24 * 30);

/// Time in which a client may use a refresh token again: the answer to its first use may be lost, and two windows of an application may renew
/// their access at the same time. A thief has no more from it than from a first use.
pub(crate) const REFRESH_GRACE: Duration = Duration::from_secs(10);

/// Characters of a verifier (RFC 7636).
const VERIFIER_LENGTH: std::ops::RangeInclusive<usize> = 43..=128;
/// Characters of a challenge: a digest in base64.
const CHALLENGE_CHARACTERS: usize = 43;
/// Characters of the id of a registered client after its prefix, which carry 130 bits.
const CLIENT_CHARACTERS: usize = 22;
const CLIENT_PREFIX: &str = "lcl_";

text_type! {
    /// The challenge of a code: the SHA-256 of the client's verifier, in base64 (RFC 7636, `S256`).
    PkceChallenge = "code challenge", "must be 43 characters of A-Z a-z 0-9 - _", |text| {
        let spelled = made_of(text, CHALLENGE_CHARACTERS, |c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'));
        spelled.filter(|text| text.len() == CHALLENGE_CHARACTERS)
    };
}

impl PkceChallenge {
    /// Returns the challenge of a verifier; `None` when the text cannot be a verifier.
    pub fn of_verifier(verifier: &str) -> Option<Self> {
        let is_spelled = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_' | '~');
        let fits = VERIFIER_LENGTH.contains(&verifier.len()) && verifier.chars().all(is_spelled);
        fits.then(|| URL_SAFE_NO_PAD.encode(Sha256::digest(verifier))).and_then(|text| Self::parse(&text).ok())
    }
}

/// The terms of an authorisation. A code is exchanged on the same terms only.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuthorizationTerms {
    pub client_id: String,
    /// The URI that the code is sent to. `None` in the request of a client that does not repeat it.
    pub redirect_uri: Option<String>,
    /// The URL of the MCP endpoint.
    pub resource: String,
    pub challenge: PkceChallenge,
}

/// A client's request to renew its access.
#[derive(Clone)]
pub struct Refresh<'a> {
    pub refresh_token: &'a str,
    pub client_id: &'a str,
    /// `None` when the client does not repeat it.
    pub resource: Option<String>,
}

/// New tokens of a client.
#[derive(Clone, Debug)]
pub struct IssuedAccess {
    pub access_token: SecretValue,
    pub refresh_token: SecretValue,
}

/// A client that registered itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegisteredClient {
    pub client_id: String,
    pub name: String,
    pub redirect_uris: Vec<String>,
}

/// The kinds of secrets of an authorisation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OauthSecret {
    Code,
    Access,
    Refresh,
}

impl OauthSecret {
    const fn prefix(self) -> &'static str {
        match self {
            Self::Code => "lac",
            Self::Access => "lat",
            Self::Refresh => "lrt",
        }
    }

    pub(crate) fn generate(self) -> SecretValue {
        let body = format!("{}_{}", self.prefix(), random::base62(SECRET_CHARACTERS));
        let sum = compute_checksum(&body);
        SecretValue::new(format!("{body}_{sum}"))
    }

    /// Whether a text has the format of this kind, and a right checksum.
    pub(crate) fn is(self, text: &str) -> bool {
        let parts: Vec<&str> = text.splitn(4, '_').collect();
        let [prefix, secret, sum] = parts[..] else { return false };
        prefix == self.prefix()
            && is_base62(secret, SECRET_CHARACTERS)
            && sum == compute_checksum(&format!("{prefix}_{secret}"))
    }
}

/// Whether a text has the format of an access token.
pub fn is_access_token(text: &str) -> bool {
    OauthSecret::Access.is(text)
}

/// Whether a text has the format of the id of a registered client.
pub fn is_registered_client_id(text: &str) -> bool {
    text.strip_prefix(CLIENT_PREFIX).is_some_and(|rest| is_base62(rest, CLIENT_CHARACTERS))
}

pub(crate) fn generate_client_id() -> String {
    format!("{CLIENT_PREFIX}{}", random::base62(CLIENT_CHARACTERS))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::access::api_key::{ApiKeyId, is_secret};

    #[test]
    fn kinds_of_secrets_are_told_apart() {
        let kinds = [OauthSecret::Code, OauthSecret::Access, OauthSecret::Refresh];
        for kind in kinds {
            let secret = kind.generate();
            assert_eq!(kinds.map(|other| other.is(secret.expose())), kinds.map(|other| other == kind));
            assert!(!is_secret(secret.expose()) && ApiKeyId::of_key(secret.expose()).is_none());
        }
    }

    #[test]
    fn any_changed_character_is_noticed() {
        let token = OauthSecret::Access.generate();
        for index in 0..token.expose().len() {
            let mut bytes = token.expose().as_bytes().to_vec();
            bytes[index] = if bytes[index] == b'x' { b'y' } else { b'x' };
            assert!(!is_access_token(&String::from_utf8(bytes).unwrap()), "{index}");
        }
    }

    /// The example of RFC 7636.
    #[test]
    fn a_challenge_is_the_digest_of_the_verifier() {
        let challenge = PkceChallenge::of_verifier("dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk").unwrap();
        assert_eq!(challenge.as_str(), "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM");
        for wrong in ["", &"a".repeat(42), &"a".repeat(129), &format!("{}+", "a".repeat(43))] {
            assert!(PkceChallenge::of_verifier(wrong).is_none(), "{wrong}");
        }
    }

    #[test]
    fn ids_of_registered_clients_are_no_urls() {
        assert!(is_registered_client_id(&generate_client_id()));
        assert!(!is_registered_client_id("https://app.example.com/client.json"));
    }
}
