//! Who calls: the key from `lathe login`, and the token it was exchanged for.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::Context;
use jiff::Timestamp;
use registry::Clock;
use reqwest::{StatusCode, Url};
use serde::{Deserialize, Serialize};

use super::connection;
use crate::failure::Failure;

/// A token that ends within this is not used any more, so that it does not end on the way (and clocks differ).
const EXPIRY_MARGIN: Duration = Duration::from_secs(60);

/// Text that no message and no log may show.
#[derive(Clone, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SecretText(String);

impl SecretText {
    pub fn new(text: String) -> Self {
        Self(text)
    }

    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for SecretText {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("[redacted]")
    }
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Credentials {
    pub url: String,
    pub organization: String,
    pub user_id: String,
    pub api_key_id: String,
    pub api_key: SecretText,
}

impl Credentials {
    pub fn url(&self) -> anyhow::Result<Url> {
        connection::parse_url(&self.url)
    }

    /// The address of the organisation's repository.
    pub fn git_url(&self) -> anyhow::Result<String> {
        Ok(super::request::endpoint(&self.url()?, &self.organization, &["tool", "git", "tools.git"])?.to_string())
    }

    /// The user name that git sends with a token as its password.
    pub fn basic_user(&self) -> String {
        format!("{}_{}", self.organization, self.user_id)
    }
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Token {
    pub id_token: SecretText,
    /// RFC 3339, as the server says it.
    pub expires_at: String,
}

impl Token {
    fn is_fresh(&self, clock: &Clock) -> bool {
        let usable_until = clock.now().after(EXPIRY_MARGIN).as_milliseconds();
        self.expires_at.parse::<Timestamp>().is_ok_and(|end| end.as_millisecond() > usable_until)
    }
}

/// A token and whose it is, as kept on disk between two commands.
#[derive(Serialize, Deserialize)]
struct CachedToken {
    url: String,
    organization: String,
    user_id: String,
    api_key_id: String,
    token: Token,
}

/// The file in which the last token is kept. A file that cannot be read or written costs one more sign-in and nothing else.
#[derive(Clone, Debug)]
pub struct TokenCache {
    path: PathBuf,
}

impl TokenCache {
    pub fn new(path: PathBuf) -> Self {
        Self { path }
    }

    pub fn load(&self, credentials: &Credentials) -> Option<Token> {
        let text = std::fs::read_to_string(&self.path).ok()?;
        let cached: CachedToken = serde_json::from_str(&text).ok()?;
        let is_same = cached.url == credentials.url
            && cached.organization == credentials.organization
            && cached.user_id == credentials.user_id
            && cached.api_key_id == credentials.api_key_id;
        (is_same && cached.token.is_fresh(&Clock::system())).then_some(cached.token)
    }

    pub fn save(&self, credentials: &Credentials, token: &Token) {
        let cached = CachedToken {
            url: credentials.url.clone(),
            organization: credentials.organization.clone(),
            user_id: credentials.user_id.clone(),
            api_key_id: credentials.api_key_id.clone(),
            token: token.clone(),
        };
        if let Ok(text) = serde_json::to_string(&cached)
            && let Err(error) = crate::home::write_private(&self.path, &text)
        {
            tracing::debug!(%error, "the token is not cached");
        }
    }

    pub fn forget(&self) {
        // A token that is not there is forgotten already.
        let _ = std::fs::remove_file(&self.path);
    }
}

/// Exchanges the key for a token.
pub async fn sign_in(http: &reqwest::Client, credentials: &Credentials) -> anyhow::Result<Token> {
    let url =
        super::request::endpoint(&credentials.url()?, &credentials.organization, &["user", "signin_with_api_key"])?;
    let answer = http
        .post(url)
        .header("x-api-key", credentials.api_key.reveal())
        .header("x-api-key-id", &credentials.api_key_id)
        .header("x-user-id", &credentials.user_id)
        .timeout(super::request::PLAIN_TIMEOUT)
        .send()
        .await
        .map_err(|error| super::request::unreachable(&credentials.url, &error))?;
    match answer.status() {
        StatusCode::OK => answer.json().await.context("reading the sign-in's answer"),
        status if status.is_client_error() || status.is_server_error() => {
            Err(super::request::refusal(answer).await.into())
        }
        status => {
            Err(Failure::Strange { url: credentials.url.clone(), reason: format!("status {status} on sign-in") }.into())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn credentials(key_id: &str) -> Credentials {
        Credentials {
            url: "http://127.0.0.1:1".to_owned(),
            organization: "acme".to_owned(),
            user_id: "ada".to_owned(),
            api_key_id: key_id.to_owned(),
            api_key: SecretText::new("the key".to_owned()),
        }
    }

    fn token(expires_at: &str) -> Token {
        Token { id_token: SecretText::new("the token".to_owned()), expires_at: expires_at.to_owned() }
    }

    #[test]
    fn a_cached_token_serves_only_its_owner_and_only_until_it_ends() {
        let directory = tempfile::tempdir().expect("a directory");
        let cache = TokenCache::new(directory.path().join("session.json"));
        cache.save(&credentials("one"), &token("9000-01-01T00:00:00Z"));
        assert!(cache.load(&credentials("one")).is_some());
        assert!(cache.load(&credentials("two")).is_none());
        cache.save(&credentials("one"), &token("2001-01-01T00:00:00Z"));
        assert!(cache.load(&credentials("one")).is_none());
    }

    #[test]
    fn debug_output_shows_no_key() {
        let shown = format!("{:?} {:?}", credentials("one"), token("2001-01-01T00:00:00Z"));
        assert!(!shown.contains("the key") && !shown.contains("the token"), "{shown}");
    }

    #[test]
    fn the_git_address_escapes_the_organisation() {
        let mut credentials = credentials("one");
        credentials.organization = "acme@west".to_owned();
        assert_eq!(credentials.git_url().expect("a URL"), "http://127.0.0.1:1/v1/acme@west/tool/git/tools.git");
    }
}
