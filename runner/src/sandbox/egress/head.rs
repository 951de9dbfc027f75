//! The method and headers of a request: headers of the tool, headers of the host, and secrets.

use hyper::header::{CONTENT_LENGTH, HOST, HeaderMap, HeaderName, HeaderValue, USER_AGENT};
use hyper::{Method, Request};

use super::method_overrides;
use super::policy::EgressPolicy;
use super::request_effect::RequestEffect;
use super::request_rules::{DROPPED_HEADERS, METHODS, REFUSED_HEADERS};
use super::target::Target;
use crate::depth::{DEPTH_HEADER, Depth};
use crate::sandbox::ports::{HttpError, HttpErrorCode, HttpRequest};

/// Headers of one request. Common servers accept as many.
const HEADERS_MAX: usize = 100;
/// Bytes of all header names and values together.
const HEADER_BYTES_MAX: usize = 32 << 10;
/// The `User-Agent` of requests that set none.
const PRODUCT: &str = concat!("lathe/", env!("CARGO_PKG_VERSION"));

/// A header as the tool set it, and the length of the request body.
struct Field<'a> {
    name: &'a str,
    value: &'a str,
    body_bytes: usize,
}

/// A well-formed head that matches its body and URL.
pub struct Head {
    pub method: Method,
    pub headers: HeaderMap,
    /// Names of the secrets that the headers contain.
    pub secrets: Vec<String>,
    /// Bytes of header names and values, with the secrets in them.
    pub bytes: u64,
}

impl Head {
    pub fn of(request: &HttpRequest, target: &Target, policy: &EgressPolicy) -> Result<Self, HttpError> {
        let method = parse_method(&request.method)?;
        let mut head = Self { method, headers: HeaderMap::new(), secrets: Vec::new(), bytes: 0 };
        let bytes: usize = request.headers.iter().map(|(name, value)| name.len() + value.len()).sum();
        if request.headers.len() > HEADERS_MAX || bytes > HEADER_BYTES_MAX {
            return Err(refuse_too_much());
        }
        for (name, value) in &request.headers {
            head.add(&Field { name, value, body_bytes: request.body.len() }, target, policy)?;
        }
        head.add_host_headers(target)?;
        Ok(head)
    }

    fn add(&mut self, field: &Field<'_>, target: &Target, policy: &EgressPolicy) -> Result<(), HttpError> {
        let Field { name, value, body_bytes } = *field;
        let header =
            HeaderName::try_from(name).map_err(|_| refuse_invalid(format!("{name:?} is not a valid header name")))?;
        let wrong =
            || refuse_invalid(format!("the host sets the header {header}, and this is not its value; leave it out"));
        if REFUSED_HEADERS.contains(&header.as_str()) {
            return Err(refuse_invalid(format!("the host sets the header {header}; leave it out")));
        }
        if DROPPED_HEADERS.contains(&header.as_str()) {
            return Ok(());
        }
        if header == HOST {
            return value.eq_ignore_ascii_case(&target.authority()).then_some(()).ok_or_else(wrong);
        }
        if header == CONTENT_LENGTH {
            return (value.trim() == body_bytes.to_string()).then_some(()).ok_or_else(wrong);
        }
        let filled = policy.secrets.fill(value, target)?;
        self.bytes += (name.len() + filled.text.len()) as u64;
        if self.bytes > HEADER_BYTES_MAX as u64 {
            return Err(refuse_too_much());
        }
        self.secrets.extend(filled.names);
        self.secrets.sort_unstable();
        self.secrets.dedup();
        let mut value = HeaderValue::from_str(&filled.text).map_err(|_| {
            let named = policy.unfit.explain(&filled.text);
            refuse_invalid(format!("the value of the header {header} has characters that no header may have{named}"))
        })?;
        value.set_sensitive(true);
        self.headers.append(header, value);
        Ok(())
    }

    /// The effect that the request may have on its server.
    pub fn find_effect(&self, request: &HttpRequest, target: &Target) -> RequestEffect {
        if (self.method != Method::GET && self.method != Method::HEAD) || !request.body.is_empty() {
            return RequestEffect::Change;
        }
        method_overrides::find(&self.headers, &target.path_and_query)
            .map_or(RequestEffect::Nothing, RequestEffect::Override)
    }

    /// Sets the call depth, for the Lathe that may receive the request. A value of the tool is replaced.
    pub fn set_depth(&mut self, depth: Depth) {
        self.headers.insert(DEPTH_HEADER, u16::from(depth.of_requests()).into());
    }

    fn add_host_headers(&mut self, target: &Target) -> Result<(), HttpError> {
        let authority =
            HeaderValue::try_from(target.authority()).map_err(|_| refuse_invalid("the host name is invalid".into()))?;
        self.headers.insert(HOST, authority);
        self.headers.entry(USER_AGENT).or_insert(HeaderValue::from_static(PRODUCT));
        Ok(())
    }

    /// The message to send. The length of the body is its framing.
    pub fn request<B>(self, target: &Target, body: B) -> Result<Request<B>, HttpError> {
        let mut request = Request::new(body);
        *request.method_mut() = self.method;
        *request.uri_mut() = target.path_and_query.parse().map_err(|_| refuse_invalid("the URL is invalid".into()))?;
        *request.headers_mut() = self.headers;
        Ok(request)
    }
}

fn parse_method(text: &str) -> Result<Method, HttpError> {
    let found = METHODS.into_iter().find(|method| method.as_str() == text);
    let sent = || METHODS.map(|method| method.to_string()).join(", ");
    found.ok_or_else(|| refuse_invalid(format!("the method must be one of {}", sent())))
}

fn refuse_too_much() -> HttpError {
    refuse_invalid(format!(
        "a request may have at most {HEADERS_MAX} headers with {HEADER_BYTES_MAX} bytes together, secrets included"
    ))
}

fn refuse_invalid(message: String) -> HttpError {
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
        Head::of(&request, &Target::parse("https://example.com/x").unwrap(), &EgressPolicy::default())
    }

    #[test]
    fn the_host_sets_headers_of_the_connection() {
        let head = head(&[("host", "example.com"), ("Content-Length", "4"), ("Connection", "close")]).unwrap();
        assert_eq!(head.headers[HOST], "example.com");
        assert_eq!(head.headers.len(), 2, "{:?}", head.headers);
    }

    #[test]
    fn headers_that_contradict_the_request_are_refused() {
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
            assert!(parse_method(refused).is_err_and(|error| error.message.len() < 600));
        }
    }
}
