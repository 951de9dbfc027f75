//! The mocks of a version in the form in which runs use them: URLs, bodies and responses are prepared once.

use url::Url;

use super::mocks::{Mock, Mocks};
use crate::sandbox::ports::{HttpRequest, HttpResponse};

/// The mocks of a version in their order.
#[derive(Debug, Default)]
pub struct CompiledMocks {
    mocks: Vec<CompiledMock>,
    bytes: usize,
}

#[derive(Debug)]
struct CompiledMock {
    method: String,
    url: Pattern,
    body: Option<Expected>,
    response: HttpResponse,
}

#[derive(Debug)]
enum Pattern {
    Whole(String),
    Start(String),
}

/// The expected body in canonical JSON. A text may also be the body as it is.
#[derive(Debug)]
struct Expected {
    json: String,
    text: Option<String>,
}

/// A request body. It is parsed when the first mock compares it.
struct Body<'a> {
    bytes: &'a [u8],
    json: Option<Option<String>>,
}

impl CompiledMocks {
    pub fn new(mocks: &Mocks) -> Self {
        let mocks: Vec<_> = mocks.0.iter().filter_map(CompiledMock::of).collect();
        let bytes = mocks.iter().map(CompiledMock::bytes).sum();
        Self { mocks, bytes }
    }

    /// Memory of the mocks.
    pub const fn bytes(&self) -> usize {
        self.bytes
    }

    /// The response of the first mock that matches the request.
    pub fn answer(&self, request: &HttpRequest) -> Option<HttpResponse> {
        let mut url = Url::parse(&request.url).ok()?;
        url.set_fragment(None);
        let mut body = Body { bytes: &request.body, json: None };
        let found = self.mocks.iter().find(|mock| {
            let matches = mock.method == request.method && mock.url.matches(url.as_str());
            matches && mock.body.as_ref().is_none_or(|expected| body.is(expected))
        });
        found.map(|mock| mock.response.clone())
    }
}

impl CompiledMock {
    fn of(mock: &Mock) -> Option<Self> {
        let url = match mock.request.url.strip_suffix('*') {
            Some(start) => Pattern::Start(Url::parse(start).ok()?.into()),
            None => Pattern::Whole(Url::parse(&mock.request.url).ok()?.into()),
        };
        let body = mock
            .request
            .body
            .as_ref()
            .map(|body| Expected { json: body.to_string(), text: body.as_str().map(str::to_owned) });
        Some(Self { method: mock.request.method.clone(), url, body, response: mock.response.render() })
    }

    fn bytes(&self) -> usize {
        let headers: usize = self.response.headers.iter().map(|(name, value)| name.len() + value.len() + 64).sum();
        let body = self.body.as_ref().map_or(0, |body| 2 * body.json.len());
        size_of::<Self>() + body + headers + self.response.body.len()
    }
}

impl Pattern {
    fn matches(&self, url: &str) -> bool {
        match self {
            Self::Whole(whole) => url == whole,
            Self::Start(start) => url.starts_with(start),
        }
    }
}

impl Body<'_> {
    fn is(&mut self, expected: &Expected) -> bool {
        if expected.text.as_ref().is_some_and(|text| text.as_bytes() == self.bytes) {
            return true;
        }
        let read = || serde_json::from_slice(self.bytes).ok().map(|json: serde_json::Value| json.to_string());
        self.json.get_or_insert_with(read).as_ref() == Some(&expected.json)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn request(method: &str, url: &str, body: &str) -> HttpRequest {
        HttpRequest { method: method.into(), url: url.into(), headers: Vec::new(), body: body.as_bytes().to_vec() }
    }

    #[test]
    fn the_first_matching_mock_answers_a_request() {
        let mocks = json!([
            {"request": {"method": "POST", "url": "https://api.example.com/orders", "body": {"a": 1, "b": [2]}},
             "response": {"status": 201, "body": {"id": 7}}},
            {"request": {"method": "POST", "url": "https://api.example.com/orders", "body": "123"},
             "response": {"body": "text"}},
            {"request": {"method": "POST", "url": "https://API.example.com:443/orders"}, "response": {"body": "other"}},
            {"request": {"method": "DELETE", "url": "https://api.example.com/orders/*"},
             "response": {"status": 204, "headers": {"X-Done": "yes"}}},
        ]);
        let mocks = CompiledMocks::new(&serde_json::from_value(mocks).expect("mocks"));
        let answer = |method, url, body| mocks.answer(&request(method, url, body));
        let first = answer("POST", "https://api.example.com/orders#x", "{ \"b\": [2], \"a\": 1 }").expect("an answer");
        assert_eq!((first.status, first.body.as_slice()), (201, b"{\"id\":7}".as_slice()));
        assert_eq!(first.headers, [("content-type".to_owned(), "application/json".to_owned())]);
        for (body, expected) in [("123", "text"), ("\"123\"", "text"), ("{}", "other"), ("no JSON", "other")] {
            let found = answer("POST", "https://api.example.com/orders", body).expect("an answer");
            assert_eq!(found.body, expected.as_bytes(), "{body}");
        }
        let gone = answer("DELETE", "https://api.example.com/orders/9", "").expect("an answer");
        assert_eq!((gone.status, gone.headers), (204, vec![("x-done".to_owned(), "yes".to_owned())]));
        assert_eq!(answer("PUT", "https://api.example.com/orders", ""), None);
        assert_eq!(answer("POST", "https://api.example.com/orders?x=1", ""), None);
        assert_eq!(answer("DELETE", "https://api.example.com.evil.net/orders/9", ""), None);
        assert!(mocks.bytes() > 4 * size_of::<CompiledMock>());
    }
}
