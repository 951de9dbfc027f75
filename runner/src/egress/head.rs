//! A request's method and headers: what a tool may set, what the host sets,
//! and where it puts secrets.

use hyper::header::{CONTENT_LENGTH, HOST, HeaderMap, HeaderName, HeaderValue, USER_AGENT};
use hyper::{Method, Request};

use super::secrets::Secrets;
use super::target::Target;
use crate::{DEPTH_HEADER, Depth, HttpError, HttpErrorCode, HttpRequest};

/// As many as servers usually take.
const HEADERS_MAX: usize = 100;
/// Of all names and values together.
const HEADER_BYTES_MAX: usize = 32 << 10;
/// By which operators of other services recognise us.
const AGENT: &str = concat!("lathe/", env!("CARGO_PKG_VERSION"));

/// Of the connection, which is the host's; a tool's wish changes nothing.
pub const DROPPED: [&str; 6] = ["connection", "te", "trailer", "keep-alive", "proxy-connection", "http2-settings"];
/// Would change what the bytes mean, or whom they are for; some servers read `_` as `-`.
const REFUSED: [&str; 6] =
    ["transfer-encoding", "upgrade", "expect", "proxy-authorization", "transfer_encoding", "content_length"];
/// Let a server do another thing than the method says.
const OVERRIDES: [&str; 3] = ["x-http-method-override", "x-http-method", "x-method-override"];
/// What tools send. Others open tunnels, send back what a host put in, or are no methods of HTTP.
const METHODS: [Method; 7] =
    [Method::GET, Method::HEAD, Method::POST, Method::PUT, Method::PATCH, Method::DELETE, Method::OPTIONS];

/// A head that is well-formed and says what its body and URL say.
pub struct Head {
    pub method: Method,
    pub headers: HeaderMap,
    /// Names of the secrets that the host put in.
    pub secrets: Vec<String>,
    /// Of names and values, with the secrets in them.
    pub bytes: u64,
}

impl Head {
    pub fn of(request: &HttpRequest, target: &Target, secrets: &Secrets) -> Result<Self, HttpError> {
        let method = method(&request.method)?;
        let mut head = Self { method, headers: HeaderMap::new(), secrets: Vec::new(), bytes: 0 };
        let bytes: usize = request.headers.iter().map(|(name, value)| name.len() + value.len()).sum();
        if request.headers.len() > HEADERS_MAX || bytes > HEADER_BYTES_MAX {
            return Err(too_much());
        }
        for (name, value) in &request.headers {
            head.add(name, value, request.body.len(), target, secrets)?;
        }
        head.own(target)?;
        Ok(head)
    }

    fn add(
        &mut self,
        name: &str,
        value: &str,
        body_bytes: usize,
        target: &Target,
        secrets: &Secrets,
    ) -> Result<(), HttpError> {
        let header = HeaderName::try_from(name).map_err(|_| invalid(format!("{name:?} is no name of a header")))?;
        let wrong = || invalid(format!("the header {header} is the host's to set, and this is not its value"));
        if REFUSED.contains(&header.as_str()) {
            return Err(invalid(format!("the header {header} is the host's to set")));
        }
        if DROPPED.contains(&header.as_str()) {
            return Ok(());
        }
        if header == HOST {
            return value.eq_ignore_ascii_case(&target.authority()).then_some(()).ok_or_else(wrong);
        }
        if header == CONTENT_LENGTH {
            return (value.trim() == body_bytes.to_string()).then_some(()).ok_or_else(wrong);
        }
        let filled = secrets.fill(value, target)?;
        self.bytes += (name.len() + filled.text.len()) as u64;
        if self.bytes > HEADER_BYTES_MAX as u64 {
            return Err(too_much());
        }
        self.secrets.extend(filled.names);
        self.secrets.sort_unstable();
        self.secrets.dedup();
        let mut value = HeaderValue::from_str(&filled.text)
            .map_err(|_| invalid(format!("the header {header} holds what no header may hold")))?;
        value.set_sensitive(true);
        self.headers.append(header, value);
        Ok(())
    }

    /// Whether it asks for nothing to change.
    pub fn is_safe(&self) -> bool {
        let is_read = self.method == Method::GET || self.method == Method::HEAD;
        is_read && !OVERRIDES.iter().any(|name| self.headers.contains_key(*name))
    }

    /// Lets another Lathe, or this one, see how deep its call is; a tool's own word on it does not count.
    pub fn deepen(&mut self, depth: Depth) {
        self.headers.insert(DEPTH_HEADER, u16::from(depth.of_requests()).into());
    }

    fn own(&mut self, target: &Target) -> Result<(), HttpError> {
        let authority = HeaderValue::try_from(target.authority()).map_err(|_| invalid("the host is no host".into()))?;
        self.headers.insert(HOST, authority);
        self.headers.entry(USER_AGENT).or_insert(HeaderValue::from_static(AGENT));
        Ok(())
    }

    /// The message to send, with the body's length as its framing.
    pub fn request<B>(self, target: &Target, body: B) -> Result<Request<B>, HttpError> {
        let mut request = Request::new(body);
        *request.method_mut() = self.method;
        *request.uri_mut() = target.path_and_query.parse().map_err(|_| invalid("the URL is no URL".into()))?;
        *request.headers_mut() = self.headers;
        Ok(request)
    }
}

/// Whether it is a method that tools send.
pub fn is_sent(method: &str) -> bool {
    METHODS.iter().any(|sent| sent.as_str() == method)
}

fn method(text: &str) -> Result<Method, HttpError> {
    let found = METHODS.into_iter().find(|method| method.as_str() == text);
    let sent = || METHODS.map(|method| method.to_string()).join(", ");
    found.ok_or_else(|| invalid(format!("the method must be one of {}", sent())))
}

fn too_much() -> HttpError {
    invalid(format!("a request has at most {HEADERS_MAX} headers of {HEADER_BYTES_MAX} bytes, secrets included"))
}

fn invalid(message: String) -> HttpError {
    HttpError::new(HttpErrorCode::InvalidRequest, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(headers: &[(&str, &str)]) -> Result<Head, HttpError> {
        let request = HttpRequest {
            method: "POST".into(),
            url: String::new(),
            headers: headers.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect(),
            body: b"four".to_vec(),
        };
        Head::of(&request, &Target::parse("https://example.com/x").unwrap(), &Secrets::default())
    }

    #[test]
    fn the_host_sets_what_the_connection_is_made_of() {
        let head = head(&[("host", "example.com"), ("Content-Length", "4"), ("Connection", "close")]).unwrap();
        assert_eq!(head.headers[HOST], "example.com");
        assert_eq!(head.headers.len(), 2, "{:?}", head.headers);
    }

    #[test]
    fn what_would_lie_is_refused() {
        for (name, value) in [
            ("Host", "other.example.com"),
            ("Content-Length", "5"),
            ("Content-Length", "4, 4"),
            ("Transfer-Encoding", "chunked"),
            ("Upgrade", "websocket"),
            ("X", "a\r\nY: b"),
            ("X Y", "a"),
            ("", "a"),
            ("X", "\0"),
            ("Expect", "100-continue"),
        ] {
            let error = head(&[(name, value)]).err().expect(name);
            assert_eq!(error.code, HttpErrorCode::InvalidRequest, "{name}: {value}");
        }
        assert!(head(&[("X", "y"); HEADERS_MAX + 1]).is_err());
        assert!(head(&[("X", "y".repeat(HEADER_BYTES_MAX).as_str())]).is_err());
    }

    #[test]
    fn a_repeated_length_must_be_right_each_time() {
        assert!(head(&[("Content-Length", "4"), ("content-length", "6")]).is_err());
        for refused in ["CONNECT", "TRACE", "G T", "get", "PRI", "", &"A".repeat(1 << 20)] {
            assert!(method(refused).is_err_and(|error| error.message.len() < 600));
        }
    }
}
