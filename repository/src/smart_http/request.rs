//! Requests of git clients: the service, and the form of the body.

use registry::OrganizationId;

use crate::error::Error;

/// Bytes of a push's body, compressed and inflated: the bound of the pack, which git itself reports to the client, plus the
/// commands before it.
pub(super) const PUSH_BODY_BYTES_MAX: u64 = 104 * 1024 * 1024;
/// Bytes of a fetch's body, compressed and inflated: several times the largest negotiation of a git client.
const FETCH_BODY_BYTES_MAX: u64 = 4 * 1024 * 1024;
/// Bytes of `Git-Protocol`, such as `version=2`. No existing version of the protocol needs more.
const PROTOCOL_BYTES_MAX: usize = 64;

/// One authenticated and authorised request.
#[derive(Debug, Clone)]
pub struct GitRequest {
    /// `GET` or `POST`.
    pub method: String,
    /// The path after `tools.git/`, still percent-encoded.
    pub path: String,
    /// The query string without `?`.
    pub query: String,
    /// `Content-Type`.
    pub content_type: Option<String>,
    /// All values of `Content-Encoding`, separated by commas.
    pub content_encoding: Option<String>,
    /// `Content-Length`; absent for a chunked body.
    pub content_length: Option<u64>,
    /// `Git-Protocol`.
    pub git_protocol: Option<String>,
    /// The user's id.
    pub remote_user: String,
    pub organization: OrganizationId,
    /// Whether the user may push to this organisation's repository.
    pub may_push: bool,
}

/// The kinds of smart HTTP requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Service {
    FetchReferences,
    PushReferences,
    Fetch,
    Push,
}

impl Service {
    /// The service of a request. `None` for any other request.
    pub(super) fn of(request: &GitRequest) -> Option<Self> {
        match (request.method.as_str(), request.path.as_str(), request.query.as_str()) {
            ("GET", "info/refs", "service=git-upload-pack") => Some(Self::FetchReferences),
            ("GET", "info/refs", "service=git-receive-pack") => Some(Self::PushReferences),
            ("POST", "git-upload-pack", "") => Some(Self::Fetch),
            ("POST", "git-receive-pack", "") => Some(Self::Push),
            _ => None,
        }
    }

    pub(super) fn is_push(self) -> bool {
        matches!(self, Self::PushReferences | Self::Push)
    }

    fn has_body(self) -> bool {
        matches!(self, Self::Fetch | Self::Push)
    }

    pub(super) fn path(self) -> &'static str {
        match self {
            Self::FetchReferences | Self::PushReferences => "info/refs",
            Self::Fetch => "git-upload-pack",
            Self::Push => "git-receive-pack",
        }
    }

    pub(super) fn body_bytes_max(self) -> u64 {
        match self {
            Self::FetchReferences | Self::PushReferences => 0,
            Self::Fetch => FETCH_BODY_BYTES_MAX,
            Self::Push => PUSH_BODY_BYTES_MAX,
        }
    }
}

impl GitRequest {
    /// The requested protocol version, if it is well-formed.
    pub(super) fn protocol(&self) -> Option<&str> {
        let allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'=' | b':' | b'-');
        self.git_protocol.as_deref().filter(|text| text.len() <= PROTOCOL_BYTES_MAX && text.bytes().all(allowed))
    }

    /// The form of the body. git clients send plain bodies or gzip.
    ///
    /// # Errors
    /// [`Error::UnknownEncoding`] for other encodings.
    pub(super) fn find_body_form(&self, service: Service) -> Result<BodyForm, Error> {
        let encoding = self.content_encoding.as_deref().unwrap_or_default().trim().to_ascii_lowercase();
        let is_gzip = match encoding.as_str() {
            "" | "identity" => false,
            "gzip" | "x-gzip" => true,
            _ => return Err(Error::UnknownEncoding),
        };
        Ok(BodyForm { is_gzip: is_gzip && service.has_body(), bytes_max: service.body_bytes_max() })
    }
}

/// The encoding and the bound of a request's body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct BodyForm {
    pub is_gzip: bool,
    /// The bound of the bytes that git receives, and of the bytes that the client sends.
    pub bytes_max: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(method: &str, path: &str, query: &str) -> GitRequest {
        GitRequest {
            method: method.to_owned(),
            path: path.to_owned(),
            query: query.to_owned(),
            content_type: None,
            content_encoding: None,
            content_length: None,
            git_protocol: None,
            remote_user: "ada".to_owned(),
            organization: OrganizationId::parse("acme").expect("an id"),
            may_push: true,
        }
    }

    #[test]
    fn only_four_kinds_of_requests_are_served() {
        let check = |method: &str, path: &str, query: &str, expect: Option<Service>| {
            assert_eq!(Service::of(&request(method, path, query)), expect, "{method} {path}?{query}");
        };
        check("GET", "info/refs", "service=git-upload-pack", Some(Service::FetchReferences));
        check("GET", "info/refs", "service=git-receive-pack", Some(Service::PushReferences));
        check("POST", "git-upload-pack", "", Some(Service::Fetch));
        check("POST", "git-receive-pack", "", Some(Service::Push));
        check("GET", "info/refs", "", None);
        check("GET", "info/refs", "service=git-upload-archive", None);
        check("GET", "HEAD", "", None);
        check("GET", "objects/info/packs", "", None);
        check("GET", "../other.git/info/refs", "service=git-upload-pack", None);
        check("GET", "%2e%2e/info/refs", "service=git-upload-pack", None);
        check("GET", "/info/refs", "service=git-upload-pack", None);
        check("HEAD", "info/refs", "service=git-upload-pack", None);
        check("POST", "info/refs", "service=git-upload-pack", None);
        check("GET", "git-upload-pack", "", None);
        check("POST", "git-upload-archive", "", None);
    }
    #[test]
    fn a_body_is_plain_or_in_gzip() {
        let check = |encoding: Option<&str>, expect: Option<bool>| {
            let request =
                GitRequest { content_encoding: encoding.map(str::to_owned), ..request("POST", "git-receive-pack", "") };
            let found = request.find_body_form(Service::Push).ok().map(|form| form.is_gzip);
            assert_eq!(found, expect, "{encoding:?}");
        };
        check(None, Some(false));
        check(Some(""), Some(false));
        check(Some("identity"), Some(false));
        check(Some("gzip"), Some(true));
        check(Some("X-Gzip"), Some(true));
        for other in ["deflate", "br", "zstd", "gzip, gzip", "gzip, identity", "gzip;q=1", "\u{fffd}"] {
            check(Some(other), None);
        }
    }

    #[test]
    fn a_fetch_has_a_much_lower_bound_than_a_push() {
        let bytes_max = |service| request("POST", "", "").find_body_form(service).expect("a form").bytes_max;
        assert!(bytes_max(Service::Fetch) * 10 < bytes_max(Service::Push));
        assert_eq!(bytes_max(Service::PushReferences), 0);
    }
}
