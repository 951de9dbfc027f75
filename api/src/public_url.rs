//! The public URL of a server, and the base of the absolute URLs that it gives to clients.

use std::str::FromStr;

use axum::http::header::HOST;
use axum::http::{HeaderMap, Uri};

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
    pub(crate) fn authority(&self) -> &str {
        &self.authority
    }

    /// The origin with its port, as browsers compare it.
    pub(crate) fn origin(&self) -> String {
        let has_port = self.authority.parse::<axum::http::uri::Authority>().is_ok_and(|found| found.port().is_some());
        let port = if self.scheme == "https" { 443 } else { 80 };
        if has_port { self.to_string() } else { format!("{self}:{port}") }
    }
}

/// The base of absolute URLs: the public URL of the server, or the host that a client named.
#[derive(Clone, Debug, Default)]
pub(crate) struct PublicBase(pub(crate) Option<PublicUrl>);

impl PublicBase {
    /// The base for a request with these headers; `None` when neither names a host.
    pub(crate) fn of(&self, headers: &HeaderMap) -> Option<String> {
        match &self.0 {
            Some(url) => Some(url.to_string()),
            None => headers.get(HOST).and_then(|host| host.to_str().ok()).map(|host| format!("http://{host}")),
        }
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
        ] {
            assert_eq!(text.parse::<PublicUrl>().unwrap().to_string(), shown);
        }
        for text in ["", "tools.example.com", "ftp://a", "https://a/b", "https://a?b", "https://u@a", "https://"] {
            assert_eq!(text.parse::<PublicUrl>(), Err(PublicUrlInvalid), "{text}");
        }
    }
}
