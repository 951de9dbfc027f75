//! A version's mocks as its runs ask them: URLs parsed, bodies and answers made, once.

use url::Url;

use super::mocks::{Mock, Mocks};
use crate::{HttpRequest, HttpResponse};

/// All of a version, in their order.
#[derive(Debug, Default)]
pub struct Standins {
    standins: Vec<Standin>,
    bytes: usize,
}

#[derive(Debug)]
struct Standin {
    method: String,
    url: Pattern,
    body: Option<Expected>,
    answer: HttpResponse,
}

#[derive(Debug)]
enum Pattern {
    Whole(String),
    Start(String),
}

/// JSON in the one form that equal documents have; a text may also be the body as it is.
#[derive(Debug)]
struct Expected {
    json: String,
    text: Option<String>,
}

/// A request's body, read when the first mock asks.
struct Body<'a> {
    bytes: &'a [u8],
    json: Option<Option<String>>,
}

impl Standins {
    pub fn new(mocks: &Mocks) -> Self {
        let standins: Vec<_> = mocks.0.iter().filter_map(Standin::of).collect();
        let bytes = standins.iter().map(Standin::bytes).sum();
        Self { standins, bytes }
    }

    /// Memory, for whoever keeps many.
    pub const fn bytes(&self) -> usize {
        self.bytes
    }

    /// The answer of the first that stands for the request.
    pub fn answer(&self, request: &HttpRequest) -> Option<HttpResponse> {
        let mut url = Url::parse(&request.url).ok()?;
        url.set_fragment(None);
        let mut body = Body { bytes: &request.body, json: None };
        let found = self.standins.iter().find(|standin| {
            let is_there = standin.method == request.method && standin.url.matches(url.as_str());
            is_there && standin.body.as_ref().is_none_or(|expected| body.is(expected))
        });
        found.map(|standin| standin.answer.clone())
    }
}

impl Standin {
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
        Some(Self { method: mock.request.method.clone(), url, body, answer: mock.response.render() })
    }

    fn bytes(&self) -> usize {
        let headers: usize = self.answer.headers.iter().map(|(name, value)| name.len() + value.len() + 64).sum();
        let body = self.body.as_ref().map_or(0, |body| 2 * body.json.len());
        size_of::<Self>() + body + headers + self.answer.body.len()
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
    fn the_first_that_stands_for_a_request_answers_it() {
        let mocks = json!([
            {"request": {"method": "POST", "url": "https://api.example.com/orders", "body": {"a": 1, "b": [2]}},
             "response": {"status": 201, "body": {"id": 7}}},
            {"request": {"method": "POST", "url": "https://api.example.com/orders", "body": "123"},
             "response": {"body": "text"}},
            {"request": {"method": "POST", "url": "https://API.example.com:443/orders"}, "response": {"body": "other"}},
            {"request": {"method": "DELETE", "url": "https://api.example.com/orders/*"},
             "response": {"status": 204, "headers": {"X-Done": "yes"}}},
        ]);
        let standins = Standins::new(&serde_json::from_value(mocks).expect("mocks"));
        let answer = |method, url, body| standins.answer(&request(method, url, body));
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
        assert!(standins.bytes() > 4 * size_of::<Standin>());
    }
}
