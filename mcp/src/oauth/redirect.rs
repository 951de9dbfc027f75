//! Redirect URIs: which are allowed, which match, and responses that go to them.

use api_kit::error::Error;
use axum::http::header::{LOCATION, REFERRER_POLICY};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use url::{Host, Url};

use super::error::OauthError;

/// Bytes of a redirect URI.
const URI_BYTES_MAX: usize = 2048;
/// Registered schemes with a dot that are protocols and not applications.
const PROTOCOLS: [&str; 6] = ["iris.beep", "iris.lwz", "iris.xpc", "iris.xpcs", "soap.beep", "soap.beeps"];

/// A URI that a client may receive codes at: `https`, `http` on a loopback address, or a scheme of an application.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct RedirectUri {
    text: String,
    url: Url,
}

/// A response to a client by way of its user's browser.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Redirect {
    pub(super) uri: RedirectUri,
    pub(super) state: Option<String>,
    pub(super) issuer: String,
}

impl RedirectUri {
    pub(super) fn parse(text: &str) -> Option<Self> {
        let url = Url::parse(text).ok().filter(|_| text.len() <= URI_BYTES_MAX)?;
        let has_user = !url.username().is_empty() || url.password().is_some();
        if url.fragment().is_some() || has_user || !text.bytes().all(|byte| byte.is_ascii_graphic()) {
            return None;
        }
        let is_allowed = match url.scheme() {
            "https" => url.host_str().is_some_and(is_plain),
            "http" => is_loopback(&url),
            scheme => is_of_application(scheme) && !url.cannot_be_a_base(),
        };
        is_allowed.then(|| Self { text: text.to_owned(), url })
    }

    pub(super) fn as_str(&self) -> &str {
        &self.text
    }

    /// Whether a registered URI permits this one: the same text, or on a loopback address with another port (RFC 8252).
    pub(super) fn is_permitted_by(&self, registered: &str) -> bool {
        self.text == registered || Self::parse(registered).is_some_and(|registered| self.differs_in_port(&registered))
    }

    fn differs_in_port(&self, other: &Self) -> bool {
        let parts = |uri: &Self| (uri.url.host_str().map(str::to_owned), uri.url.path().to_owned());
        let is_same = parts(self) == parts(other) && self.url.query() == other.url.query();
        self.is_loopback() && other.is_loopback() && is_same
    }

    /// Whether the code goes to a program on the user's machine.
    pub(super) fn is_loopback(&self) -> bool {
        self.url.scheme() == "http" && is_loopback(&self.url)
    }

    /// The place that people recognise: the host, or the scheme of an application.
    pub(super) fn describe_place(&self) -> String {
        match self.url.scheme() {
            "http" | "https" => self.url.host_str().unwrap_or_default().to_owned(),
            scheme => format!("{scheme}:"),
        }
    }

    /// The source of a content security policy that permits to be sent here. Policies have no IPv6 addresses.
    pub(super) fn build_policy_source(&self) -> String {
        let scheme = self.url.scheme();
        match (scheme, self.url.host()) {
            ("http" | "https", Some(Host::Domain(_) | Host::Ipv4(_))) => {
                let port = self.url.port().map(|port| format!(":{port}")).unwrap_or_default();
                format!("{scheme}://{}{port}", self.url.host_str().unwrap_or_default())
            }
            _ => format!("{scheme}:"),
        }
    }
}

/// Whether a scheme is a domain name in reverse, such as `com.example.app` (RFC 8252, section 7.1). Other schemes belong to browsers,
/// operating systems and protocols, such as `javascript`, `smb` and `ms-msdt`, which would do something with a link to them. The first
/// part is a top-level domain, which has letters only.
fn is_of_application(scheme: &str) -> bool {
    let mut labels = scheme.split('.');
    let top = labels.next().unwrap_or_default();
    let is_top = top.len() >= 2 && top.bytes().all(|byte| byte.is_ascii_lowercase());
    let is_label = |label: &str| {
        let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        !label.is_empty() && label.bytes().all(is_plain)
    };
    let mut rest = labels.peekable();
    is_top && rest.peek().is_some() && rest.all(is_label) && !PROTOCOLS.contains(&scheme)
}

/// Whether a host has only characters of names and addresses, which cannot end a source of a policy.
fn is_plain(host: &str) -> bool {
    host.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_' | b'[' | b']' | b':'))
}

fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name == "localhost",
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}

impl Redirect {
    /// Sends a code to the client.
    pub fn with_code(&self, code: &str) -> Result<Response, Error> {
        self.respond_with(&[("code", code)])
    }

    /// Sends an error to the client.
    pub fn with_error(&self, error: &OauthError) -> Result<Response, Error> {
        self.respond_with(&[("error", error.error), ("error_description", &error.error_description)])
    }

    /// The response with the client's state and the name of this server (RFC 9207).
    fn respond_with(&self, pairs: &[(&str, &str)]) -> Result<Response, Error> {
        let mut url = self.uri.url.clone();
        url.query_pairs_mut().extend_pairs(pairs);
        if let Some(state) = &self.state {
            url.query_pairs_mut().append_pair("state", state);
        }
        url.query_pairs_mut().append_pair("iss", &self.issuer);
        let location = HeaderValue::from_str(url.as_str());
        let location = location.map_err(|error| Error::Internal { detail: format!("a redirect URI: {error}") })?;
        let headers = [(LOCATION, location), (REFERRER_POLICY, HeaderValue::from_static("no-referrer"))];
        Ok((StatusCode::SEE_OTHER, headers).into_response())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_go_to_https_to_this_machine_or_to_an_application() {
        for text in [
            "https://app.example.com/callback?x=1",
            "http://localhost/cb",
            "http://127.0.0.1:3000/cb",
            "http://[::1]:3000/",
            "com.example.app:/callback",
            "com.example.app://oauth/callback",
            "io.github.an-app2:/",
        ] {
            assert!(RedirectUri::parse(text).is_some(), "{text}");
        }
        for text in [
            "",
            "/callback",
            "http://app.example.com/callback",
            "http://localhost.example.com/",
            "https://app.example.com/#part",
            "https://ada@app.example.com/",
            "https://app.example.com/a b",
            "https://app;x.example.com/",
            "javascript://x/%0aalert(1)",
            "data:text/html,x",
            "file:///etc/passwd",
            "urn:ietf:wg:oauth:2.0:oob",
            "cursor://anysphere.cursor-mcp/oauth/callback",
            "smb://files.example.com/share",
            "ms-msdt:/id",
            "ldap://directory.example.com/",
            "telnet://host.example.com/",
            "search-ms:/query",
            "intent://x#Intent;end",
            "x-apple.systempreferences:/x",
            "soap.beep://host.example.com/",
            "z39.50r://host.example.com/",
            "com.:/callback",
            "com..app:/callback",
            "c.app:/callback",
            "com.example+app:/callback",
            &format!("https://app.example.com/{}", "x".repeat(URI_BYTES_MAX)),
        ] {
            assert!(RedirectUri::parse(text).is_none(), "{text}");
        }
    }

    #[test]
    fn only_the_port_of_a_loopback_address_may_differ() {
        for (asked, registered, expected) in [
            ("https://a.example.com/cb", "https://a.example.com/cb", true),
            ("https://a.example.com/cb/", "https://a.example.com/cb", false),
            ("https://a.example.com:8443/cb", "https://a.example.com/cb", false),
            ("https://A.example.com/cb", "https://a.example.com/cb", false),
            ("http://127.0.0.1:5000/cb", "http://127.0.0.1/cb", true),
            ("http://127.0.0.1:5000/cb", "http://127.0.0.1:6000/cb", true),
            ("http://localhost:5000/cb", "http://localhost/cb", true),
            ("http://localhost:5000/cb", "http://127.0.0.1/cb", false),
            ("http://127.0.0.1:5000/other", "http://127.0.0.1/cb", false),
            ("http://127.0.0.1:5000/cb?x=1", "http://127.0.0.1/cb", false),
            ("https://localhost:5000/cb", "http://localhost/cb", false),
            ("com.app://host:1/cb", "com.app://host:2/cb", false),
        ] {
            let uri = RedirectUri::parse(asked).unwrap();
            assert_eq!(uri.is_permitted_by(registered), expected, "{asked} {registered}");
        }
    }

    #[test]
    fn a_policy_names_the_origin_or_the_scheme() {
        for (uri, source, place) in [
            ("https://a.example.com/cb", "https://a.example.com", "a.example.com"),
            ("http://127.0.0.1:5000/cb", "http://127.0.0.1:5000", "127.0.0.1"),
            ("http://[::1]:5000/cb", "http:", "[::1]"),
            ("com.example.app://x/y", "com.example.app:", "com.example.app:"),
        ] {
            let uri = RedirectUri::parse(uri).unwrap();
            assert_eq!((uri.build_policy_source().as_str(), uri.describe_place().as_str()), (source, place));
        }
    }

    #[test]
    fn a_response_keeps_the_query_and_has_state_and_issuer() {
        let uri = RedirectUri::parse("https://a.example.com/cb?x=1").unwrap();
        let redirect = Redirect { uri, state: Some("a&b".into()), issuer: "https://lathe.test".into() };
        let response = redirect.with_code("c d").unwrap();
        assert_eq!(response.status(), StatusCode::SEE_OTHER);
        let expected = "https://a.example.com/cb?x=1&code=c+d&state=a%26b&iss=https%3A%2F%2Flathe.test";
        assert_eq!(response.headers()[LOCATION], expected);
    }
}
