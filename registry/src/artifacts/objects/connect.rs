//! The clients of the three services, with their bounds.

use std::sync::Arc;
use std::time::Duration;

use object_store::aws::AmazonS3Builder;
use object_store::azure::MicrosoftAzureBuilder;
use object_store::gcp::GoogleCloudStorageBuilder;
use object_store::{BackoffConfig, ObjectStore, RetryConfig};
use url::{Host, Url};

use crate::artifacts::storage_url::{Provider, StorageUrl};
use crate::error::{Error, Result};

/// Time for one request with its body. The largest artifacts have some hundred megabytes.
const REQUEST_TIME_MAX: &str = "120 seconds";
/// Time for a connection.
const CONNECT_TIME_MAX: &str = "5 seconds";
/// Retries of a request that got no response, or a 5xx, with pauses from a tenth of a second.
const RETRIES_MAX: usize = 3;
/// Time since the first attempt after which nothing is tried again. Callers wait.
const RETRY_TIME_MAX: Duration = Duration::from_secs(20);
const RETRY_PAUSE_MAX: Duration = Duration::from_secs(2);

/// Variables with the address of a service.
const ENDPOINTS: [&str; 6] = [
    "AWS_ENDPOINT_URL_S3",
    "AWS_ENDPOINT_URL",
    "AWS_ENDPOINT",
    "GOOGLE_BASE_URL",
    "AZURE_STORAGE_ENDPOINT",
    "AZURE_ENDPOINT",
];

/// Sets the options of a builder in the order of increasing precedence, and builds.
macro_rules! build {
    ($builder:expr, $options:expr) => {{
        let builder = $options.into_iter().fold($builder.with_retry(build_retries()), |builder, (name, value)| {
            // Other variables with the prefix, such as AWS_PROFILE, are for other programs.
            match name.to_ascii_lowercase().parse() {
                Ok(key) => builder.with_config(key, value),
                Err(_) => builder,
            }
        });
        builder.build().map(|store| Arc::new(store) as Arc<dyn ObjectStore>)
    }};
}

pub fn store(url: &StorageUrl, variables: impl IntoIterator<Item = (String, String)>) -> Result<Arc<dyn ObjectStore>> {
    let unusable = |reason: String| Error::StorageUnusable { url: url.to_string(), reason };
    let prefix = prefix(url.provider());
    let mut options = list_bounds();
    let variables: Vec<_> = variables.into_iter().filter(|(name, _)| name.starts_with(prefix)).collect();
    // One request for each deletion: not every service deletes many objects with one, or checks their permissions.
    options.push(("disable_bulk_delete".to_owned(), "true".to_owned()));
    options.push(("allow_http".to_owned(), "false".to_owned()));
    options.extend(variables);
    if sends_to_loopback(&options) {
        options.push(("allow_http".to_owned(), "true".to_owned()));
    } else if let Some((name, _)) = options.iter().find(|(name, value)| is_open(name, value) && !allows_http(&options))
    {
        return Err(unusable(format!(
            "{name} is an http URL, and neither requests nor contents would be encrypted. Use https, or set {prefix}ALLOW_HTTP=true"
        )));
    }
    let built = match url.provider() {
        Provider::S3 => build!(AmazonS3Builder::new().with_bucket_name(url.bucket()), options),
        Provider::GoogleCloudStorage => {
            build!(GoogleCloudStorageBuilder::new().with_bucket_name(url.bucket()), options)
        }
        Provider::Azure => build!(MicrosoftAzureBuilder::new().with_container_name(url.bucket()), options),
    };
    built.map_err(|error| unusable(format!("{error}. Check the environment variables {prefix}…")))
}

const fn prefix(provider: Provider) -> &'static str {
    match provider {
        Provider::S3 => "AWS_",
        Provider::GoogleCloudStorage => "GOOGLE_",
        Provider::Azure => "AZURE_",
    }
}

fn list_bounds() -> Vec<(String, String)> {
    let bounds = [("timeout", REQUEST_TIME_MAX), ("connect_timeout", CONNECT_TIME_MAX)];
    bounds.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec()
}

fn build_retries() -> RetryConfig {
    let backoff = BackoffConfig { max_backoff: RETRY_PAUSE_MAX, ..BackoffConfig::default() };
    RetryConfig { backoff, max_retries: RETRIES_MAX, retry_timeout: RETRY_TIME_MAX }
}

fn is_endpoint(name: &str) -> bool {
    ENDPOINTS.contains(&name)
}

/// Whether an option is an endpoint without TLS.
fn is_open(name: &str, value: &str) -> bool {
    is_endpoint(name) && value.starts_with("http://")
}

fn allows_http(options: &[(String, String)]) -> bool {
    options.iter().any(|(name, value)| name.ends_with("_ALLOW_HTTP") && value == "true")
}

/// Whether an endpoint is given, and all of them are on this machine.
fn sends_to_loopback(options: &[(String, String)]) -> bool {
    let mut endpoints = options.iter().filter(|(name, _)| is_endpoint(name)).peekable();
    endpoints.peek().is_some() && endpoints.all(|(_, value)| is_loopback(value))
}

fn is_loopback(url: &str) -> bool {
    match Url::parse(url).ok().as_ref().and_then(Url::host) {
        Some(Host::Domain(name)) => name == "localhost",
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn connected(variables: &[(&str, &str)]) -> std::result::Result<(), String> {
        // Other tests of this process may have installed it.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let url = StorageUrl::parse("s3://lathe/prefix").expect("a URL");
        let variables = variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        store(&url, variables).map(|_| ()).map_err(|error| error.to_string())
    }

    #[test]
    fn endpoints_without_tls_are_on_this_machine_or_allowed() {
        for (endpoint, allowed, is_accepted) in [
            ("http://127.0.0.1:9000", "false", true),
            ("http://localhost:9000", "false", true),
            ("http://[::1]:9000", "false", true),
            ("https://storage.example", "false", true),
            ("http://storage.example", "true", true),
            ("http://storage.example", "false", false),
            ("http://localhost.example", "false", false),
        ] {
            let connected = connected(&[("AWS_ENDPOINT_URL", endpoint), ("AWS_ALLOW_HTTP", allowed)]);
            assert_eq!(connected.is_ok(), is_accepted, "{endpoint} {connected:?}");
            if let Err(message) = connected {
                assert!(message.contains("AWS_ENDPOINT_URL") && message.contains("AWS_ALLOW_HTTP"), "{message}");
            }
        }
    }

    #[test]
    fn variables_that_are_no_options_are_ignored_and_invalid_values_refused() {
        assert_eq!(connected(&[("AWS_PROFILE", "x"), ("PATH", "/bin")]), Ok(()));
        let message = connected(&[("AWS_TIMEOUT", "soon")]).expect_err("an invalid duration");
        assert!(message.contains("s3://lathe/prefix") && message.contains("AWS_"), "{message}");
    }
}
