//! Mocks: responses of a project to the requests of simulations and checks.

use hyper::header::{HeaderName, HeaderValue};
use registry::suggest_in;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use url::Url;

use crate::sandbox::ports::HttpResponse;

/// Mocks of one project. Every simulated request is compared with each.
pub const MOCKS_MAX: usize = 200;

/// A request and its response, as a file under `mocks/` defines them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mock {
    pub request: MockRequest,
    pub response: MockResponse,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MockRequest {
    pub method: String,
    /// The whole URL, or with `*` at its end a prefix.
    pub url: String,
    /// The body as JSON, or as text that is not JSON. Without it, any body matches.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<Value>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MockResponse {
    #[serde(default = "ok")]
    pub status: u16,
    #[serde(default)]
    pub headers: Map<String, Value>,
    /// A text is sent as it is, any other value as JSON.
    #[serde(default)]
    pub body: Value,
}

/// The mocks of a project, in the order of their files.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Mocks(pub Vec<Mock>);

const fn ok() -> u16 {
    200
}

impl Mock {
    /// Reads a mock.
    ///
    /// # Errors
    /// The reason why the document is not a valid mock.
    pub fn read(document: Value) -> Result<Self, String> {
        let mock: Self = serde_json::from_value(document).map_err(|error| suggest_in(error.to_string()))?;
        mock.problem().map_or(Ok(mock), Err)
    }

    fn problem(&self) -> Option<String> {
        let MockRequest { method, url, .. } = &self.request;
        let MockResponse { status, headers, .. } = &self.response;
        let plain = url.strip_suffix('*').unwrap_or(url);
        match Url::parse(plain) {
            Err(error) => return Some(format!("request.url {url:?} cannot be read: {error}")),
            Ok(url) if !matches!(url.scheme(), "http" | "https") => {
                return Some("request.url must be http or https".into());
            }
            Ok(url) if url.fragment().is_some() || !url.username().is_empty() || url.password().is_some() => {
                return Some(
                    "request.url must not have a fragment, a user or a password, since no request has them".into(),
                );
            }
            Ok(_) => {}
        }
        if method.is_empty() || !method.bytes().all(|byte| byte.is_ascii_uppercase()) {
            return Some(format!("request.method {method:?} must be a method in upper case, such as POST"));
        }
        if !(200..600).contains(status) {
            return Some(format!("response.status {status} must be between 200 and 599"));
        }
        let is_header = |name: &str, value: &Value| {
            let value = value.as_str().and_then(|value| HeaderValue::from_str(value).ok());
            value.is_some() && HeaderName::try_from(name).is_ok()
        };
        let wrong = headers.iter().find(|(name, value)| !is_header(name, value));
        wrong.map(|(name, _)| {
            format!("response.headers has {name:?}, which is not a valid header with a text as its value")
        })
    }
}

impl Mocks {
    /// The bytes that are stored with a version; `None` without mocks.
    ///
    /// # Errors
    /// When the mocks cannot be written as JSON, which no value of this type causes.
    pub fn artifact(&self) -> serde_json::Result<Option<Vec<u8>>> {
        (!self.0.is_empty()).then(|| serde_json::to_vec(self)).transpose()
    }
}

impl MockResponse {
    pub(super) fn render(&self) -> HttpResponse {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let mut headers: Vec<_> = self.headers.iter().map(|(name, value)| (name.to_lowercase(), text(value))).collect();
        let body = match &self.body {
            Value::Null => Vec::new(),
            Value::String(text) => text.clone().into_bytes(),
            json => {
                if !headers.iter().any(|(name, _)| name == "content-type") {
                    headers.push(("content-type".into(), "application/json".into()));
                }
                json.to_string().into_bytes()
            }
        };
        HttpResponse { status: self.status, headers, body }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_mock_that_could_never_answer_is_invalid() {
        let problem_of = |method: &str, url: &str, status: u16, headers: Value| {
            let request = json!({"method": method, "url": url});
            let mock = json!({"request": request, "response": {"status": status, "headers": headers}});
            serde_json::from_value::<Mock>(mock).expect("a mock").problem()
        };
        let problem = |method, url, status| problem_of(method, url, status, json!({}));
        assert_eq!(problem("POST", "https://api.example.com/*", 200), None);
        assert!(problem("POST", "https://api.example.com/#part", 200).is_some());
        assert!(problem("POST", "https://user@api.example.com/", 200).is_some());
        for headers in [json!({"x y": "a"}), json!({"x": "a\r\nb"}), json!({"x": 1})] {
            assert!(problem_of("POST", "https://api.example.com/", 200, headers.clone()).is_some(), "{headers}");
        }
        assert!(problem("post", "https://api.example.com/", 200).is_some());
        assert!(problem("POST", "/orders", 200).is_some());
        assert!(problem("POST", "ftp://api.example.com/", 200).is_some());
        assert!(problem("POST", "https://api.example.com/", 99).is_some());
    }
}
