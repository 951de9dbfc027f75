//! Messages between a run and its host. They are plain data, so that they can cross a process boundary.

use std::pin::Pin;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::text::cut;

/// Receives a run's status events. It must not block.
pub type EventSink = Box<dyn Fn(StatusDocument) + Send + Sync>;

pub type HttpAnswer = Result<HttpResponse, HttpError>;

/// Admits, sends and counts a run's HTTP requests. Dropping the future cancels the request.
pub type HttpSender = Arc<dyn Fn(HttpRequest) -> Pin<Box<dyn Future<Output = HttpAnswer> + Send>> + Send + Sync>;

/// The capabilities that the host gives one run.
pub struct Ports {
    pub events: EventSink,
    pub http: HttpSender,
}

impl Ports {
    /// Drops every status event and refuses every HTTP request.
    #[must_use]
    pub fn closed() -> Self {
        let refused = || HttpError::new(HttpErrorCode::Denied, "outbound HTTP is not available here");
        Self { events: Box::new(drop), http: Arc::new(move |_| Box::pin(std::future::ready(Err(refused())))) }
    }
}

/// The status event of a tool. Other members of its JSON document are ignored.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct StatusDocument {
    pub message: String,
    #[serde(default)]
    pub progress: Option<f64>,
    #[serde(default)]
    pub total: Option<f64>,
    #[serde(default)]
    pub data: Option<Value>,
}

/// A request as the tool made it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HttpRequest {
    pub method: String,
    pub url: String,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HttpResponse {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

/// The reason why a request has no response. The run continues.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HttpError {
    pub code: HttpErrorCode,
    pub message: String,
}

/// Maximum length of an error message: a sentence with a host or a URL. A run may hold many unread errors.
const MESSAGE_BYTES_MAX: usize = 512;

impl HttpError {
    pub fn new(code: HttpErrorCode, message: impl Into<String>) -> Self {
        Self { code, message: cut(message.into(), MESSAGE_BYTES_MAX) }
    }
}

/// The error codes of `scaffold/wit`, which documents them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HttpErrorCode {
    Denied,
    Budget,
    InvalidRequest,
    RequestTooLarge,
    ResponseTooLarge,
    Timeout,
    Unreachable,
    Tls,
    Protocol,
    Simulated,
}

impl HttpErrorCode {
    /// The stable name of the code in records.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Denied => "denied",
            Self::Budget => "budget",
            Self::InvalidRequest => "invalid_request",
            Self::RequestTooLarge => "request_too_large",
            Self::ResponseTooLarge => "response_too_large",
            Self::Timeout => "timeout",
            Self::Unreachable => "unreachable",
            Self::Tls => "tls",
            Self::Protocol => "protocol",
            Self::Simulated => "simulated",
        }
    }

    /// Whether the host refused to send the request.
    #[must_use]
    pub const fn is_refusal(self) -> bool {
        matches!(self, Self::Denied | Self::Budget | Self::InvalidRequest | Self::RequestTooLarge | Self::Simulated)
    }
}
