//! Whether package registries answer.

use std::time::Duration;

use reqwest::{Client, StatusCode, Url};

use crate::error::Error;
use crate::steps::download;
use crate::toolchain::rust::build_index_url;

/// Time for one answer. Registries answer within a second.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(10);

/// The settings that name registries.
#[derive(Debug, Clone, Default)]
pub struct RegistryUrls {
    pub python_index: Option<String>,
    pub npm_registry: Option<String>,
    pub crate_index: Option<String>,
}

/// The result of a request for a small document of a registry.
#[derive(Debug, Clone)]
pub struct RegistryCheck {
    /// The setting that names the registry, such as `python_index`.
    pub setting: &'static str,
    /// The URL, without a password.
    pub url: String,
    /// The reason why builds cannot use the registry now, if any.
    pub problem: Option<String>,
}

/// Requests a small document of each registry, all at the same time.
///
/// # Errors
/// When the system's certificates cannot be used.
pub async fn check_registries(urls: &RegistryUrls) -> Result<Vec<RegistryCheck>, Error> {
    let client = download::build_client()?;
    let crates = urls.crate_index.as_deref().map(build_index_url);
    let (python, npm, crates) = tokio::join!(
        check(&client, "python_index", build_document_url(urls.python_index.as_deref(), "six/")),
        check(&client, "npm_registry", build_document_url(urls.npm_registry.as_deref(), "-/ping")),
        check(&client, "crate_index", build_document_url(crates.as_deref(), "config.json")),
    );
    Ok([python, npm, crates].into_iter().flatten().collect())
}

/// The URL of a registry and of a document in it.
fn build_document_url(registry: Option<&str>, path: &str) -> Option<(String, String)> {
    let registry = registry?.trim_end_matches('/').to_owned();
    Some((format!("{registry}/{path}"), registry))
}

async fn check(client: &Client, setting: &'static str, of: Option<(String, String)>) -> Option<RegistryCheck> {
    let (document, registry) = of?;
    let problem = match client.get(document).timeout(ANSWER_TIMEOUT).send().await {
        Ok(answer) => is_refusal(answer.status()).then(|| format!("it answers {}", answer.status())),
        Err(error) => Some(find_cause(&error)),
    };
    Some(RegistryCheck { setting, url: remove_password(&registry), problem })
}

/// Whether a registry with this answer serves no packages. It need not have the document: 404 is the answer of a registry
/// that works.
fn is_refusal(status: StatusCode) -> bool {
    status.is_server_error() || matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN)
}

/// The innermost cause, such as "Connection refused".
fn find_cause(error: &reqwest::Error) -> String {
    if error.is_timeout() {
        return format!("no answer within {} s", ANSWER_TIMEOUT.as_secs());
    }
    let mut cause: &dyn std::error::Error = error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    if error.is_builder() { "this is not a URL".to_owned() } else { cause.to_string() }
}

fn remove_password(url: &str) -> String {
    let Ok(mut parsed) = Url::parse(url) else { return url.to_owned() };
    if parsed.username().is_empty() && parsed.password().is_none() {
        return url.to_owned();
    }
    let is_removed = parsed.set_username("").is_ok() && parsed.set_password(None).is_ok();
    if is_removed { parsed.to_string() } else { String::new() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_are_left_out() {
        assert_eq!(remove_password("https://me:secret@pip.example/simple"), "https://pip.example/simple");
        assert_eq!(remove_password("https://pip.example/one"), "https://pip.example/one");
    }

    #[test]
    fn a_registry_without_the_document_works() {
        assert!(!is_refusal(StatusCode::NOT_FOUND) && !is_refusal(StatusCode::OK));
        assert!(is_refusal(StatusCode::UNAUTHORIZED) && is_refusal(StatusCode::BAD_GATEWAY));
    }
}
