//! A run's call of another tool, as an exchange with the host: it is sent, awaited, cancelled, recorded and replayed like an
//! HTTP request.

use serde::{Deserialize, Serialize};

use crate::sandbox::ports::{HttpAnswer, HttpError, HttpErrorCode, HttpRequest, HttpResponse};

/// The scheme of the URL of a tool: `lathe-tool:weather`.
const SCHEME: &str = "lathe-tool:";
const SUCCEEDED: u16 = 200;
const FAILED: u16 = 500;

/// A call as the tool made it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolCall {
    pub name: String,
    /// The input parameters, as JSON.
    pub arguments: String,
}

/// The reason why a call has no output. The calling run continues.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolCallError {
    pub code: ToolCallCode,
    /// The type of the exception that the tool raised.
    pub kind: Option<String>,
    pub message: String,
}

/// The error codes of `scaffold/wit`, which documents them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolCallCode {
    Denied,
    InvalidArguments,
    Budget,
    Failed,
}

/// The exception of a tool, as the body of an answer.
#[derive(Serialize, Deserialize)]
struct Raised {
    kind: String,
    message: String,
}

impl From<ToolCall> for HttpRequest {
    fn from(ToolCall { name, arguments }: ToolCall) -> Self {
        let url = format!("{SCHEME}{name}");
        Self { method: "CALL".to_owned(), url, headers: Vec::new(), body: arguments.into_bytes() }
    }
}

impl ToolCall {
    /// Whether a request is the call of a tool.
    pub fn is(request: &HttpRequest) -> bool {
        request.url.starts_with(SCHEME)
    }

    /// Reads a request that is the call of a tool. Arguments that are not UTF-8 are not JSON either.
    pub fn of(request: &HttpRequest) -> Option<Self> {
        let name = request.url.strip_prefix(SCHEME)?.to_owned();
        Some(Self { name, arguments: String::from_utf8_lossy(&request.body).into_owned() })
    }
}

/// The answer to a call that ran: the output, which is JSON, or the exception that the tool raised.
pub fn answer(result: Result<String, (String, String)>) -> HttpResponse {
    let (status, body) = match result {
        Ok(output) => (SUCCEEDED, output.into_bytes()),
        Err((kind, message)) => (FAILED, serde_json::to_vec(&Raised { kind, message }).unwrap_or_default()),
    };
    HttpResponse { status, headers: Vec::new(), body }
}

/// Reads the output of a call from its answer.
///
/// # Errors
/// When the call was refused, or the tool failed.
pub fn answer_of(answer: HttpAnswer) -> Result<String, ToolCallError> {
    let HttpResponse { status, body, .. } = answer?;
    if status == SUCCEEDED {
        return Ok(String::from_utf8_lossy(&body).into_owned());
    }
    let raised = serde_json::from_slice(&body)
        .unwrap_or_else(|_| Raised { kind: String::new(), message: String::from_utf8_lossy(&body).into_owned() });
    let Raised { kind, message } = raised;
    Err(ToolCallError { code: ToolCallCode::Failed, kind: Some(kind), message })
}

impl From<HttpError> for ToolCallError {
    fn from(HttpError { code, message }: HttpError) -> Self {
        let code = match code {
            HttpErrorCode::Denied => ToolCallCode::Denied,
            HttpErrorCode::InvalidRequest => ToolCallCode::InvalidArguments,
            HttpErrorCode::Budget | HttpErrorCode::RequestTooLarge => ToolCallCode::Budget,
            _ => ToolCallCode::Failed,
        };
        Self { code, kind: None, message }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_is_read_from_its_request() {
        let call = ToolCall { name: "weather".to_owned(), arguments: r#"{"city":"Zürich"}"#.to_owned() };
        let request = HttpRequest::from(call.clone());
        assert!(ToolCall::is(&request));
        assert_eq!(ToolCall::of(&request), Some(call));
        let other = HttpRequest { url: "https://example.com/lathe-tool:x".to_owned(), ..request };
        assert!(!ToolCall::is(&other));
        assert_eq!(ToolCall::of(&other), None);
    }

    #[test]
    fn an_answer_has_the_output_or_the_reason() {
        assert_eq!(answer_of(Ok(answer(Ok("[1]".to_owned())))), Ok("[1]".to_owned()));
        let raised = answer_of(Ok(answer(Err(("ValueError".to_owned(), "no city".to_owned()))))).unwrap_err();
        assert_eq!((raised.code, raised.kind.as_deref()), (ToolCallCode::Failed, Some("ValueError")));
        assert_eq!(raised.message, "no city");
        for (code, expected) in [
            (HttpErrorCode::Denied, ToolCallCode::Denied),
            (HttpErrorCode::InvalidRequest, ToolCallCode::InvalidArguments),
            (HttpErrorCode::Budget, ToolCallCode::Budget),
            (HttpErrorCode::RequestTooLarge, ToolCallCode::Budget),
            (HttpErrorCode::Protocol, ToolCallCode::Failed),
        ] {
            let error = answer_of(Err(HttpError::new(code, "why"))).unwrap_err();
            assert_eq!((error.code, error.kind, error.message.as_str()), (expected, None, "why"));
        }
    }
}
