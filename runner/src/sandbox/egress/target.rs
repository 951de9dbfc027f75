//! The target of a request, parsed from its URL.

use registry::HostPattern;
use url::{Host, Url};

use super::blocked_ports::is_blocked;
use crate::sandbox::ports::{HttpError, HttpErrorCode};

/// Longest URL: room for the longest path of the HTTP API.
const URL_BYTES_MAX: usize = 16 << 10;
const HTTPS_PORT: u16 = 443;
/// Longest name in DNS.
const HOST_BYTES_MAX: usize = 253;

/// The host to connect to, and the path and query to request.
#[derive(Debug, Clone)]
pub struct Target {
    pub host: Host<String>,
    pub port: u16,
    pub is_secure: bool,
    pub path_and_query: String,
}

impl Target {
    pub fn parse(url: &str) -> Result<Self, HttpError> {
        if url.len() > URL_BYTES_MAX {
            return Err(refuse_invalid(format!("a URL may have at most {URL_BYTES_MAX} bytes")));
        }
        let parsed = Url::parse(url).map_err(|error| refuse_invalid(format!("the URL is invalid: {error}")))?;
        let is_secure = match parsed.scheme() {
            "https" => true,
            "http" => false,
            scheme => return Err(refuse_invalid(format!("the scheme of the URL must be https or http, not {scheme}"))),
        };
        if !parsed.username().is_empty() || parsed.password().is_some() {
            return Err(refuse_invalid(
                "the URL has a user or a password; send them in the header Authorization".into(),
            ));
        }
        let host = parsed.host().ok_or_else(|| refuse_invalid("the URL has no host".into()))?.to_owned();
        if parsed.host_str().is_some_and(|host| host.len() > HOST_BYTES_MAX) {
            return Err(refuse_invalid(format!("a host name may have at most {HOST_BYTES_MAX} bytes")));
        }
        let port = parsed.port_or_known_default().ok_or_else(|| refuse_invalid("the URL has no port".into()))?;
        let query = parsed.query().map(|query| format!("?{query}")).unwrap_or_default();
        Ok(Self { host, port, is_secure, path_and_query: format!("{}{query}", parsed.path()) })
    }

    /// The host, and the port unless it is the default of the scheme.
    pub fn authority(&self) -> String {
        let default = if self.is_secure { HTTPS_PORT } else { 80 };
        if self.port == default { self.host.to_string() } else { format!("{}:{}", self.host, self.port) }
    }

    /// The entry of an author's list for this target. Plain HTTP needs a port.
    pub fn entry(&self) -> String {
        let is_usual = self.is_secure && self.port == HTTPS_PORT;
        if is_usual { self.host.to_string() } else { format!("{}:{}", self.host, self.port) }
    }

    /// Whether an entry of an author's list matches. An entry without a port means HTTPS on port 443; plain HTTP needs
    /// a port.
    pub fn is_declared(&self, pattern: &HostPattern) -> bool {
        let is_usual = self.is_secure && self.port == HTTPS_PORT;
        pattern.names(&self.host.to_string())
            && pattern.port().map_or(is_usual, |port| port == self.port && self.is_secure >= (port == HTTPS_PORT))
    }

    /// Whether an entry of an operator's list matches. An entry without a port matches all ports but blocked ones.
    pub fn is_permitted(&self, pattern: &HostPattern) -> bool {
        let has_port = pattern.port().map_or(!is_blocked(self.port), |port| port == self.port);
        pattern.names(&self.host.to_string()) && has_port
    }
}

fn refuse_invalid(message: String) -> HttpError {
    HttpError::new(HttpErrorCode::InvalidRequest, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(url: &str) -> Target {
        Target::parse(url).expect(url)
    }

    fn declared(pattern: &str, url: &str) -> bool {
        target(url).is_declared(&HostPattern::parse(pattern).expect(pattern))
    }

    #[test]
    fn an_entry_without_a_port_means_https() {
        assert!(declared("api.example.com", "https://API.example.com/x"));
        assert!(declared("api.example.com", "https://api.example.com:443/x"));
        assert!(!declared("api.example.com", "http://api.example.com/x"));
        assert!(!declared("api.example.com", "https://api.example.com:8443/"));
        assert!(declared("api.example.com:80", "http://api.example.com/x"));
        assert!(declared("*.example.com:8443", "https://a.example.com:8443"));
        assert!(!declared("api.example.com:443", "http://api.example.com:443/"));
    }

    #[test]
    fn all_spellings_of_an_address_are_one_host() {
        for host in ["2852039166", "0xA9FEA9FE", "0251.0376.0251.0376", "169.254.43518", "169.254.169.254"] {
            assert_eq!(target(&format!("http://{host}/")).host, target("http://169.254.169.254/").host, "{host}");
        }
        assert!(!declared("localhost:80", "http://localhost./"));
        assert_eq!(target("http://①②⑦.0.0.1/").host.to_string(), "127.0.0.1");
    }

    #[test]
    fn invalid_targets_are_refused() {
        for url in [
            "",
            "/x",
            "ftp://example.com",
            "file:///etc/passwd",
            "https://user@example.com",
            "https://:p@a.b",
            "http://",
            "http://a b/",
            "http://[::1",
            "gopher://x",
            "data:,x",
            "http://example.com:99999/",
        ] {
            assert!(Target::parse(url).is_err(), "{url}");
        }
        assert!(Target::parse(&format!("https://example.com/{}", "x".repeat(URL_BYTES_MAX))).is_err());
    }

    #[test]
    fn the_request_line_has_only_path_and_query() {
        let target = target("https://example.com:8443/a/../b?q=1#part");
        assert_eq!((target.path_and_query.as_str(), target.authority().as_str()), ("/b?q=1", "example.com:8443"));
    }
}
