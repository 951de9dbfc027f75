//! The HTTP client and the addresses of a server.

use std::net::IpAddr;
use std::time::Duration;

use reqwest::Url;

use crate::failure::Failure;

/// Time for a server to accept a connection: enough for some lost packets and their retries.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// Maximum silence within a response. Servers send comments while a build step is silent.
const READ_TIMEOUT: Duration = Duration::from_secs(600);
/// Timeout of calls that do not stream. They read or write a few rows.
pub const PLAIN_TIMEOUT: Duration = Duration::from_secs(60);

const ADDRESS_HINT: &str = "give an address such as http://127.0.0.1:8080";

/// Builds a client. It follows no redirects, since requests carry credentials; it loads no certificates for a plain
/// `http` address, and uses no proxy for a loopback address.
pub fn build_http_client(url: &Url) -> anyhow::Result<reqwest::Client> {
    let mut builder = reqwest::Client::builder()
        .user_agent(concat!("lathe/", env!("CARGO_PKG_VERSION")))
        .redirect(reqwest::redirect::Policy::none())
        .connect_timeout(CONNECT_TIMEOUT)
        .read_timeout(READ_TIMEOUT);
    if url.scheme() == "http" {
        builder = builder.tls_certs_only([]);
    }
    if is_loopback(url) {
        builder = builder.no_proxy();
    }
    Ok(builder.build()?)
}

fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
    host == "localhost" || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// Reads a server's address: scheme, host, port and an optional path prefix.
pub fn parse_url(text: &str) -> anyhow::Result<Url> {
    let url =
        Url::parse(text).map_err(|error| Failure::usage(format!("`{text}` is not a URL: {error}"), ADDRESS_HINT))?;
    if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none() {
        return Err(Failure::usage(format!("`{text}` is not an http or https address"), ADDRESS_HINT));
    }
    if !url.username().is_empty() || url.password().is_some() || url.query().is_some() || url.fragment().is_some() {
        let host = url.host_str().unwrap_or_default();
        return Err(Failure::usage(
            format!("the address of `{host}` has a user, a password, a query or a fragment"),
            ADDRESS_HINT,
        ));
    }
    Ok(url)
}

/// The URL of a path below `/v1/{organization}`, with each segment escaped.
pub fn build_endpoint(base: &Url, organization: &str, path: &[&str]) -> anyhow::Result<Url> {
    build_server_endpoint(base, &[&["v1", organization][..], path].concat())
}

/// The URL of a path of the server, with each segment escaped.
pub fn build_server_endpoint(base: &Url, path: &[&str]) -> anyhow::Result<Url> {
    let mut url = base.clone();
    url.path_segments_mut()
        .map_err(|()| Failure::usage(format!("`{base}` is not an http or https address"), ADDRESS_HINT))?
        .pop_if_empty()
        .extend(path);
    Ok(url)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loopback_in_all_its_spellings() {
        for text in ["http://127.0.0.1:8080", "http://localhost", "http://[::1]:9", "http://127.4.4.4"] {
            assert!(is_loopback(&parse_url(text).expect("a URL")), "{text}");
        }
        assert!(!is_loopback(&parse_url("https://tools.example.org").expect("a URL")));
    }

    #[test]
    fn an_address_has_no_credentials_and_no_query() {
        for text in ["ftp://a", "a b", "http://u:p@host", "http://host?x=1", "mailto:x@y"] {
            assert!(parse_url(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_constraint_is_escaped_in_the_path() {
        let base = Url::parse("http://h:1/prefix/").expect("a URL");
        let url = build_endpoint(&base, "acme", &["tool", "x", "version", ">=1.0,<2/3", "invoke"]).expect("a URL");
        assert_eq!(url.as_str(), "http://h:1/prefix/v1/acme/tool/x/version/%3E=1.0,%3C2%2F3/invoke");
        assert_eq!(build_endpoint(&base, "acme", &["tool", ""]).expect("a URL").path(), "/prefix/v1/acme/tool/");
        assert_eq!(build_server_endpoint(&base, &["agents", "x/y"]).expect("a URL").path(), "/prefix/agents/x%2Fy");
    }
}
