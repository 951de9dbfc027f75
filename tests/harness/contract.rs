//! The published contract. Every response in a test must have a status and a schema that its operation documents. The
//! harness's client checks that before a test gets the response.
//!
//! Requests and responses also count for the coverage of the contract ([`recorded`]).

mod coverage;
mod document;
mod shape;
mod strict;

use serde_json::Value;

use super::Answer;

pub use coverage::recorded;
pub use document::operations;

/// A request as the client sent it.
#[derive(Debug)]
pub struct Sent {
    pub method: String,
    pub path: String,
    pub query: Vec<(String, String)>,
    /// Header names in lower case. Repeated headers occur repeatedly.
    pub headers: Vec<String>,
    pub body: Option<Value>,
}

impl Sent {
    pub fn of(request: &reqwest::Request) -> Self {
        let body = request.body().and_then(reqwest::Body::as_bytes);
        Self {
            method: request.method().to_string(),
            path: request.url().path().to_owned(),
            query: request.url().query_pairs().into_owned().collect(),
            headers: request.headers().iter().map(|(name, _)| name.to_string()).collect(),
            body: body.and_then(|bytes| serde_json::from_slice(bytes).ok()),
        }
    }
}

impl std::fmt::Display for Sent {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{} {} {:?}", self.method, self.path, self.query)
    }
}

/// Fails the test when a response does not match the contract.
pub fn check(sent: &Sent, answer: &Answer) {
    let status = answer.status;
    // Asynchronous operations and runs in progress are not part of the contract.
    let is_ours = status == 202 || sent.query.contains(&("state".to_owned(), "running".to_owned()));
    let documented = document::find(&sent.method, &sent.path).filter(|_| !is_ours);
    let Some(operation) = documented else { return check_ours(sent, answer) };
    assert!(operation.may_answer(status), "{sent}: {} documents no {status}: {answer}", operation.name);
    coverage::note(operation, sent, status);
    match (status, operation.shape(status)) {
        (200..300, Some(schema)) => check_document(schema, &answer.json()),
        (202, None) => strict::check(&answer.json()),
        (204, None) => assert!(answer.body.is_empty(), "{sent}: {answer}"),
        // Archives and git's protocol have no schema.
        (200..300, None) => assert!(!answer.is_json(), "{sent}: {answer}"),
        _ => check_refusal(sent, answer),
    }
}

/// Returns the data of a stream's `result` event, which equals the plain response.
pub fn check_result(sent: &Sent, result: &Value) {
    let Some(operation) = document::find(&sent.method, &sent.path) else { return strict::check(result) };
    let status = operation.statuses.iter().copied().find(|status| (200..300).contains(status)).expect("a success");
    coverage::note(operation, sent, status);
    check_document(operation.shape(status).expect("a shape"), result);
}

fn check_document(schema: &str, document: &Value) {
    shape::check(schema, document);
    strict::check(document);
}

/// Checks a response that the contract does not have: sign-in, details of versions and records, and unknown paths.
fn check_ours(sent: &Sent, answer: &Answer) {
    if !sent.path.starts_with("/v1/") {
        return;
    }
    match answer.status {
        200..300 if answer.is_json() => strict::check(&answer.json()),
        200..300 => {}
        _ => check_refusal(sent, answer),
    }
}

fn check_refusal(sent: &Sent, answer: &Answer) {
    let body = answer.json();
    assert!(body["code"].is_string(), "{sent}: {answer}");
    if answer.status == 422 {
        shape::check("HTTPValidationError", &body);
    } else {
        assert!(body["detail"].is_string(), "{sent}: {answer}");
    }
}
