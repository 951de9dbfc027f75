//! The public URL of a server, and the hosts and origins that browsers may use.

use std::str::FromStr;

use axum::http::Uri;
use rmcp::transport::streamable_http_server::StreamableHttpServerConfig;

/// Hosts of a server without a public URL.
const LOOPBACK: [&str; 3] = ["localhost", "127.0.0.1", "::1"];

/// The URL under which clients reach a server: scheme and authority.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PublicUrl {
    scheme: String,
    authority: String,
}

/// Why a text is not a public URL.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("should be http:// or https:// with a host and no path, such as https://tools.example.com")]
pub struct PublicUrlInvalid;

impl FromStr for PublicUrl {
    type Err = PublicUrlInvalid;

    fn from_str(text: &str) -> Result<Self, PublicUrlInvalid> {
        let uri: Uri = text.parse().map_err(|_| PublicUrlInvalid)?;
        let scheme = uri.scheme_str().filter(|scheme| matches!(*scheme, "http" | "https"));
        let authority = uri.authority().filter(|authority| !authority.as_str().contains('@'));
        let has_path = !matches!(uri.path(), "" | "/") || uri.query().is_some();
        match (scheme, authority) {
            (Some(scheme), Some(authority)) if !has_path => {
                Ok(Self { scheme: scheme.to_owned(), authority: authority.as_str().to_ascii_lowercase() })
            }
            _ => Err(PublicUrlInvalid),
        }
    }
}

impl std::fmt::Display for PublicUrl {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{}://{}", self.scheme, self.authority)
    }
}

impl PublicUrl {
    /// The origin with its port, as browsers compare it.
    fn origin(&self) -> String {
        let has_port = self.authority.parse::<axum::http::uri::Authority>().is_ok_and(|found| found.port().is_some());
        let port = if self.scheme == "https" { 443 } else { 80 };
        if has_port { self.to_string() } else { format!("{self}:{port}") }
    }
}

/// Returns settings that accept requests to the public URL and to loopback addresses, from browsers only by pages of the public
/// URL.
pub(super) fn accepting(public: Option<&PublicUrl>) -> StreamableHttpServerConfig {
    let loopback = LOOPBACK.map(str::to_owned);
    let hosts = public.map(|url| url.authority.clone()).into_iter().chain(loopback);
    let local = LOOPBACK.map(|host| if host.contains(':') { format!("[{host}]") } else { host.to_owned() });
    let local = local.iter().flat_map(|host| [format!("http://{host}:*"), format!("https://{host}:*")]);
    let origins: Vec<_> = public.map(PublicUrl::origin).into_iter().chain(local).collect();
    StreamableHttpServerConfig::default()
        .with_allowed_hosts(hosts.collect::<Vec<_>>())
        .with_allowed_origins(origins)
        .enforce_origin_validation()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_public_url_is_a_scheme_and_a_host() {
        for (text, shown) in [
            ("https://Tools.Example.com", "https://tools.example.com"),
            ("http://tools.example.com:8080/", "http://tools.example.com:8080"),
        ] {
            assert_eq!(text.parse::<PublicUrl>().unwrap().to_string(), shown);
        }
        for text in ["", "tools.example.com", "ftp://a", "https://a/b", "https://a?b", "https://u@a", "https://"] {
            assert_eq!(text.parse::<PublicUrl>(), Err(PublicUrlInvalid), "{text}");
        }
    }

    #[test]
    fn the_public_url_is_the_only_remote_host_and_origin() {
        let public: PublicUrl = "https://tools.example.com".parse().unwrap();
        let config = accepting(Some(&public));
        assert_eq!(config.allowed_hosts, ["tools.example.com", "localhost", "127.0.0.1", "::1"]);
        assert_eq!(config.allowed_origins[0], "https://tools.example.com:443");
        assert!(accepting(None).allowed_origins.iter().all(|origin| origin.ends_with(":*")));
    }
}
