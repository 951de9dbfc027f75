//! The request of a git client, and which of the four shapes it has.

use registry::OrganizationId;

/// The body of a push: the pack's own bound, which git reports to the pusher in words, plus the commands before it.
const PUSH_BODY_BYTES_MAX: u64 = 104 * 1024 * 1024;
/// The body of a fetch, compressed or not: several times the largest negotiation that a git client sends at once.
const FETCH_BODY_BYTES_MAX: u64 = 4 * 1024 * 1024;
/// `Git-Protocol` holds `version=2`; a longer list of keys is no version of the protocol that exists.
const PROTOCOL_BYTES_MAX: usize = 64;

/// One request, already authenticated and permitted.
#[derive(Debug, Clone)]
pub struct GitRequest {
    /// `GET` or `POST`.
    pub method: String,
    /// What follows `tools.git/`, percent-encoding and all.
    pub path: String,
    /// The query string without `?`.
    pub query: String,
    /// `Content-Type`.
    pub content_type: Option<String>,
    /// `Content-Encoding`.
    pub content_encoding: Option<String>,
    /// `Content-Length`; absent for a chunked body.
    pub content_length: Option<u64>,
    /// `Git-Protocol`.
    pub git_protocol: Option<String>,
    /// The user's id.
    pub remote_user: String,
    pub organization: OrganizationId,
    /// Whether the user may push to this organisation's repository at all.
    pub may_push: bool,
}

/// The shapes of smart HTTP.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Service {
    FetchReferences,
    PushReferences,
    Fetch,
    Push,
}

impl Service {
    /// The request's shape; nothing when it has none of them.
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
    /// The protocol version asked for, if it has the form of one.
    pub(super) fn protocol(&self) -> Option<&str> {
        let allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'=' | b':' | b'-');
        self.git_protocol.as_deref().filter(|text| text.len() <= PROTOCOL_BYTES_MAX && text.bytes().all(allowed))
    }

    /// Whether git has to inflate the body; it knows no other encoding.
    pub(super) fn is_gzip(&self) -> bool {
        matches!(self.content_encoding.as_deref(), Some("gzip" | "x-gzip"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_four_shapes_are_served() {
        let check = |method: &str, path: &str, query: &str, expect: Option<Service>| {
            let request = GitRequest {
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
            };
            assert_eq!(Service::of(&request), expect, "{method} {path}?{query}");
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
}
