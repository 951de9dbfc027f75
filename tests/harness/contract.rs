//! The published contract: every answer that a test gets must be one that its operation documents, of the shape that
//! it documents. The client of the harness checks that before a test sees the answer, so that no test can forget.
//!
//! What is asked and answered is also noted, for the table of what was never seen ([`recorded`]).

mod coverage;
mod document;
mod shape;
mod strict;

use serde_json::Value;

use super::Answer;

pub use coverage::recorded;
pub use document::operations;

/// What a client sent.
#[derive(Debug)]
pub struct Sent {
    pub method: String,
    pub path: String,
    pub query: Vec<(String, String)>,
    /// Names in lower case, as often as they occur.
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

/// Fails the test when an answer is not of the contract.
pub fn check(sent: &Sent, answer: &Answer) {
    let status = answer.status;
    // That an answer comes later is ours, too.
    let documented = document::find(&sent.method, &sent.path).filter(|_| status != 202);
    let Some(operation) = documented else { return check_ours(sent, answer) };
    assert!(operation.may_answer(status), "{sent}: {} documents no {status}: {answer}", operation.name);
    coverage::note(operation, sent, status);
    match (status, operation.shape(status)) {
        (200..300, Some(schema)) => check_document(schema, &answer.json()),
        (202, None) => strict::check(&answer.json()),
        (204, None) => assert!(answer.body.is_empty(), "{sent}: {answer}"),
        // An archive, or git's own protocol.
        (200..300, None) => assert!(!answer.is_json(), "{sent}: {answer}"),
        _ => check_refusal(sent, answer),
    }
}

/// The data of an event stream's result, which is what the plain answer would have been.
pub fn check_result(sent: &Sent, result: &Value) {
    let operation = document::find(&sent.method, &sent.path).expect("an operation of the contract");
    let status = operation.statuses.iter().copied().find(|status| (200..300).contains(status)).expect("a success");
    coverage::note(operation, sent, status);
    check_document(operation.shape(status).expect("a shape"), result);
}

fn check_document(schema: &str, document: &Value) {
    shape::check(schema, document);
    strict::check(document);
}

/// Sign-in and the details of versions and records are ours, and so are paths that nothing is behind.
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
