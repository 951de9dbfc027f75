//! A project's answers for simulations: what stands in for requests that would
//! change the world.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use url::Url;

use crate::{HttpRequest, HttpResponse};

/// Of one project, each looked at for every simulated request.
pub const MOCKS_MAX: usize = 200;

/// A request and its answer, as a file under `mocks/` has them.
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
    /// Whole, or with `*` at its end for everything that begins so.
    pub url: String,
    /// The body as JSON, or as text that is no JSON; any body without it.
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
    /// A text as it is, and anything else as JSON.
    #[serde(default)]
    pub body: Value,
}

/// All of a project, in the order of their files.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Mocks(pub Vec<Mock>);

const fn ok() -> u16 {
    200
}

impl Mock {
    /// What is wrong with it, for its author.
    pub fn problem(&self) -> Option<String> {
        let MockRequest { method, url, .. } = &self.request;
        let MockResponse { status, headers, .. } = &self.response;
        let plain = url.strip_suffix('*').unwrap_or(url);
        match Url::parse(plain) {
            Err(error) => return Some(format!("request.url {url:?} cannot be read: {error}")),
            Ok(url) if !matches!(url.scheme(), "http" | "https") => {
                return Some("request.url must be http or https".into());
            }
            Ok(_) => {}
        }
        if method.is_empty() || !method.bytes().all(|byte| byte.is_ascii_uppercase()) {
            return Some(format!("request.method {method:?} must be a method such as POST"));
        }
        if !(200..600).contains(status) {
            return Some(format!("response.status {status} must be between 200 and 599"));
        }
        let wrong = headers.iter().find(|(_, value)| !value.is_string());
        wrong.map(|(name, _)| format!("response.headers.{name} must be a text"))
    }

    fn stands_for(&self, request: &HttpRequest, url: &Url) -> bool {
        let MockRequest { method, url: expected, body } = &self.request;
        let is_there = match expected.strip_suffix('*') {
            Some(start) => Url::parse(start).is_ok_and(|start| url.as_str().starts_with(start.as_str())),
            None => Url::parse(expected).is_ok_and(|expected| expected == *url),
        };
        is_there && *method == request.method && body.as_ref().is_none_or(|body| *body == read(&request.body))
    }
}

/// JSON when it is JSON, and text otherwise.
fn read(body: &[u8]) -> Value {
    serde_json::from_slice(body).unwrap_or_else(|_| String::from_utf8_lossy(body).into())
}

impl Mocks {
    /// Its bytes as they are stored with a version; none for no mocks.
    ///
    /// # Errors
    /// None that a value of this type could cause.
    pub fn artifact(&self) -> serde_json::Result<Option<Vec<u8>>> {
        (!self.0.is_empty()).then(|| serde_json::to_vec(self)).transpose()
    }

    /// The answer of the first mock that stands for the request.
    pub fn answer(&self, request: &HttpRequest) -> Option<HttpResponse> {
        let mut url = Url::parse(&request.url).ok()?;
        url.set_fragment(None);
        Some(self.0.iter().find(|mock| mock.stands_for(request, &url))?.response.render())
    }
}

impl MockResponse {
    fn render(&self) -> HttpResponse {
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

    fn mocks(value: Value) -> Mocks {
        serde_json::from_value(value).expect("mocks")
    }

    fn request(method: &str, url: &str, body: &str) -> HttpRequest {
        HttpRequest { method: method.into(), url: url.into(), headers: Vec::new(), body: body.as_bytes().to_vec() }
    }

    #[test]
    fn the_first_that_stands_for_a_request_answers_it() {
        let mocks = mocks(json!([
            {"request": {"method": "POST", "url": "https://api.example.com/orders", "body": {"a": 1}},
             "response": {"status": 201, "body": {"id": 7}}},
            {"request": {"method": "POST", "url": "https://API.example.com:443/orders"}, "response": {"body": "other"}},
            {"request": {"method": "DELETE", "url": "https://api.example.com/orders/*"},
             "response": {"status": 204, "headers": {"X-Done": "yes"}}},
        ]));
        let answer = |method, url, body| mocks.answer(&request(method, url, body));
        let first = answer("POST", "https://api.example.com/orders#x", "{ \"a\": 1 }").expect("an answer");
        assert_eq!((first.status, first.body.as_slice()), (201, b"{\"id\":7}".as_slice()));
        assert_eq!(first.headers, [("content-type".to_owned(), "application/json".to_owned())]);
        assert_eq!(answer("POST", "https://api.example.com/orders", "{}").expect("an answer").body, b"other");
        let gone = answer("DELETE", "https://api.example.com/orders/9", "").expect("an answer");
        assert_eq!((gone.status, gone.headers), (204, vec![("x-done".to_owned(), "yes".to_owned())]));
        assert_eq!(answer("PUT", "https://api.example.com/orders", ""), None);
        assert_eq!(answer("POST", "https://api.example.com/orders?x=1", ""), None);
        assert_eq!(answer("DELETE", "https://api.example.com.evil.net/orders/9", ""), None);
    }

    #[test]
    fn what_could_never_answer_is_a_problem() {
        let problem = |method: &str, url: &str, status: u16| {
            let request = json!({"method": method, "url": url});
            mocks(json!([{"request": request, "response": {"status": status}}])).0[0].problem()
        };
        assert_eq!(problem("POST", "https://api.example.com/*", 200), None);
        assert!(problem("post", "https://api.example.com/", 200).is_some());
        assert!(problem("POST", "/orders", 200).is_some());
        assert!(problem("POST", "ftp://api.example.com/", 200).is_some());
        assert!(problem("POST", "https://api.example.com/", 99).is_some());
    }
}
