//! How a server is reached.

use std::time::Duration;

use reqwest::Url;

use crate::failure::Failure;

/// A server that accepts at all accepts within this; more than one lost packet and its retries.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// The longest silence inside an answer: a build step that says nothing, with room; servers send comments in between.
const READ_TIMEOUT: Duration = Duration::from_secs(600);

/// No redirects, since requests carry credentials. A plain `http` address needs no certificates on the machine, and a loopback one no proxy.
pub fn http_client(url: &Url) -> anyhow::Result<reqwest::Client> {
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
    host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// Reads a server's address; only the scheme, host and port and a path prefix count.
pub fn parse_url(text: &str) -> anyhow::Result<Url> {
    let hint = "give an address such as http://127.0.0.1:8080";
    let url = Url::parse(text).map_err(|error| Failure::usage(format!("`{text}` is no URL: {error}"), hint))?;
    if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none() {
        return Err(Failure::usage(format!("`{text}` is no http or https address"), hint));
    }
    if !url.username().is_empty() || url.password().is_some() || url.query().is_some() || url.fragment().is_some() {
        return Err(Failure::usage(
            format!("`{}` has more than scheme, host and port", url.host_str().unwrap_or_default()),
            hint,
        ));
    }
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
    fn an_address_is_only_an_address() {
        for text in ["ftp://a", "a b", "http://u:p@host", "http://host?x=1", "mailto:x@y"] {
            assert!(parse_url(text).is_err(), "{text}");
        }
    }
}
