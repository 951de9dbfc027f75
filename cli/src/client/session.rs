//! Credentials of `lathe login`, and the token that a sign-in returns for them.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::Context;
use api::wire::{SecretText, Token};
use jiff::Timestamp;
use registry::Clock;
use reqwest::{StatusCode, Url};
use serde::{Deserialize, Serialize};

use super::connection::{PLAIN_TIMEOUT, build_endpoint, parse_url};
use super::refusal::{explain_unexpected, explain_unreachable, read_refusal};
use crate::failure::Failure;
use crate::private_file;

/// Remaining lifetime below which a token is not used, so that it does not expire on the way. Allows for clocks that
/// differ.
const EXPIRY_MARGIN: Duration = Duration::from_secs(60);

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Credentials {
    pub url: String,
    pub organization: String,
    /// `None` in a login from the environment that does not name the user of its key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_id: Option<String>,
    pub api_key_id: String,
    pub api_key: SecretText,
}

impl Credentials {
    pub fn parse_url(&self) -> anyhow::Result<Url> {
        parse_url(&self.url)
    }

    /// The URL of the organisation's git repository.
    pub fn build_git_url(&self) -> anyhow::Result<String> {
        Ok(build_endpoint(&self.parse_url()?, &self.organization, &["tool", "git", "tools.git"])?.to_string())
    }

    /// The user name for git, if the user is known. The password is a token.
    pub fn build_basic_user(&self) -> Option<String> {
        self.user_id.as_ref().map(|user| format!("{}_{user}", self.organization))
    }
}

/// A token and the credentials it belongs to, as stored on disk.
#[derive(Serialize, Deserialize)]
struct CachedToken {
    url: String,
    organization: String,
    user_id: Option<String>,
    api_key_id: String,
    token: Token,
}

/// The file with the last token. A file that cannot be read or written costs another sign-in.
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
        (is_same && is_fresh(&cached.token, &Clock::system())).then_some(cached.token)
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
            && let Err(error) = private_file::write(&self.path, &text)
        {
            tracing::debug!(%error, "the token is not cached");
        }
    }

    pub fn forget(&self) {
        // Fails only if there is no cached token.
        let _ = std::fs::remove_file(&self.path);
    }
}

fn is_fresh(token: &Token, clock: &Clock) -> bool {
    let usable_until = clock.now().after(EXPIRY_MARGIN).as_milliseconds();
    token.expires_at.parse::<Timestamp>().is_ok_and(|end| end.as_millisecond() > usable_until)
}

/// Signs in with the key and returns a token.
pub async fn sign_in(http: &reqwest::Client, credentials: &Credentials) -> anyhow::Result<Token> {
    let url = build_endpoint(&credentials.parse_url()?, &credentials.organization, &["user", "signin_with_api_key"])?;
    let answer = http
        .post(url)
        .header("x-api-key", credentials.api_key.reveal())
        .header("x-api-key-id", &credentials.api_key_id)
        .header("x-user-id", credentials.user_id.as_deref().unwrap_or_default())
        .timeout(PLAIN_TIMEOUT)
        .send()
        .await
        .map_err(|error| explain_unreachable(&credentials.url, &error))?;
    match answer.status() {
        StatusCode::OK => answer.json().await.context("reading the response to the sign-in"),
        StatusCode::NOT_FOUND => Err(explain_unknown_organization(credentials)),
        status if status.is_client_error() || status.is_server_error() => Err(read_refusal(answer).await.into()),
        status => Err(explain_unexpected(&credentials.url, format!("status {status} on sign-in")).into()),
    }
}

fn explain_unknown_organization(Credentials { url, organization, .. }: &Credentials) -> anyhow::Error {
    Failure::coded(
        "not_found",
        format!("there is no organisation `{organization}` on {url}"),
        "check --org and --url; `lathe org list` on the server's machine lists the organisations",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn credentials(key_id: &str) -> Credentials {
        Credentials {
            url: "http://127.0.0.1:1".to_owned(),
            organization: "acme".to_owned(),
            user_id: Some("ada".to_owned()),
            api_key_id: key_id.to_owned(),
            api_key: SecretText::new("the key".to_owned()),
        }
    }

    fn token(expires_at: &str) -> Token {
        Token { id_token: SecretText::new("the token".to_owned()), expires_at: expires_at.to_owned() }
    }

    #[test]
    fn a_cached_token_is_used_for_its_credentials_until_it_expires() {
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
        assert_eq!(credentials.build_git_url().expect("a URL"), "http://127.0.0.1:1/v1/acme@west/tool/git/tools.git");
    }
}
