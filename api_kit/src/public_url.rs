//! The public URL of a server, and the base of the absolute URLs that it gives to clients.

use std::str::FromStr;

use axum::http::header::HOST;
use axum::http::{HeaderMap, Uri};
use url::Url;

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
                // Without the default port, as clients write URLs.
                let url = canonicalize(&format!("{scheme}://{authority}"));
                let authority = url.split_once("://").map_or(authority.as_str(), |(_, authority)| authority);
                Ok(Self { scheme: scheme.to_owned(), authority: authority.to_owned() })
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
    pub fn authority(&self) -> &str {
        &self.authority
    }

    /// The origin with its port, as browsers compare it.
    pub fn origin(&self) -> String {
        let has_port = self.authority.parse::<axum::http::uri::Authority>().is_ok_and(|found| found.port().is_some());
        let port = if self.scheme == "https" { 443 } else { 80 };
        if has_port { self.to_string() } else { format!("{self}:{port}") }
    }
}

/// The base of absolute URLs: the public URL of the server, or the host that a client named.
#[derive(Clone, Debug, Default)]
pub struct PublicBase(pub Option<PublicUrl>);

impl PublicBase {
    /// The base for a request with these headers, in the form in which URLs are compared; `None` when neither names a host.
    pub fn of(&self, headers: &HeaderMap) -> Option<String> {
        match &self.0 {
            Some(url) => Some(url.to_string()),
            None => read_host(headers).map(|host| canonicalize(&format!("http://{host}"))),
        }
    }

    /// The base with the host as the client wrote it. Clients compare the URL of a resource with theirs, some letter by letter. A proxy may
    /// send another host, so that one which is not that of the public URL is not repeated.
    pub fn as_written(&self, headers: &HeaderMap) -> Option<String> {
        let base = self.of(headers)?;
        let scheme = self.0.as_ref().map_or("http", |url| url.scheme.as_str());
        let written = read_host(headers).map(|host| format!("{scheme}://{host}"));
        written.filter(|written| canonicalize(written) == base).or(Some(base))
    }
}

fn read_host(headers: &HeaderMap) -> Option<&str> {
    headers.get(HOST)?.to_str().ok()
}

/// The form of a URL in which two are compared: scheme and host in small letters, without a default port and without slashes at the end. A
/// text that is no URL of a host alone stays as it is.
pub fn canonicalize(text: &str) -> String {
    let is_plain = |url: &Url| {
        let has_user = !url.username().is_empty() || url.password().is_some();
        url.has_host() && !has_user && url.query().is_none() && url.fragment().is_none()
    };
    match Url::parse(text).ok().filter(is_plain) {
        Some(url) => url.as_str().trim_end_matches('/').to_owned(),
        None => text.trim_end_matches('/').to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_public_url_is_a_scheme_and_a_host() {
        for (text, shown) in [
            ("https://Tools.Example.com", "https://tools.example.com"),
            ("http://tools.example.com:8080/", "http://tools.example.com:8080"),
            ("https://tools.example.com:443", "https://tools.example.com"),
            ("https://[2001:DB8::1]:8443", "https://[2001:db8::1]:8443"),
        ] {
            assert_eq!(text.parse::<PublicUrl>().unwrap().to_string(), shown);
        }
        for text in ["", "tools.example.com", "ftp://a", "https://a/b", "https://a?b", "https://u@a", "https://"] {
            assert_eq!(text.parse::<PublicUrl>(), Err(PublicUrlInvalid), "{text}");
        }
    }

    #[test]
    fn urls_of_one_resource_have_one_form() {
        for (text, expected) in [
            ("HTTPS://Tools.Example.com:443/v1/acme/mcp/a/", "https://tools.example.com/v1/acme/mcp/a"),
            ("http://localhost:80", "http://localhost"),
            ("http://localhost:8080/v1", "http://localhost:8080/v1"),
            ("https://tools.example.com/a?b/", "https://tools.example.com/a?b"),
            ("no URL/", "no URL"),
        ] {
            assert_eq!(canonicalize(text), expected);
        }
    }

    #[test]
    fn a_resource_is_named_as_the_client_wrote_its_host() {
        let public = PublicBase(Some("https://tools.example.com".parse().unwrap()));
        let own = PublicBase::default();
        let headers = |host: &str| HeaderMap::from_iter([(HOST, host.parse().unwrap())]);
        for (base, host, of, as_written) in [
            (&public, "tools.example.com", "https://tools.example.com", "https://tools.example.com"),
            (&public, "Tools.Example.com:443", "https://tools.example.com", "https://Tools.Example.com:443"),
            (&public, "127.0.0.1:8080", "https://tools.example.com", "https://tools.example.com"),
            (&public, "tools.example.com:8443", "https://tools.example.com", "https://tools.example.com"),
            (&own, "LOCALHOST:8080", "http://localhost:8080", "http://LOCALHOST:8080"),
            (&own, "localhost:80", "http://localhost", "http://localhost:80"),
        ] {
            let headers = headers(host);
            let found = (base.of(&headers), base.as_written(&headers));
            assert_eq!(found, (Some(of.to_owned()), Some(as_written.to_owned())), "{host}");
        }
        assert_eq!(own.as_written(&HeaderMap::new()), None);
    }
}
