//! What a run reaches beyond its sandbox: plain messages, so that a process
//! boundary can lie between.

use std::pin::Pin;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::host::StatusDocument;

/// Takes a run's status events, at once and without waiting.
pub type EventSink = Box<dyn Fn(StatusDocument) + Send + Sync>;

pub type HttpAnswer = Result<HttpResponse, HttpError>;

/// Admits a run's requests, makes them and counts them. Dropping the future
/// gives the request up.
pub type HttpSender = Arc<dyn Fn(HttpRequest) -> Pin<Box<dyn Future<Output = HttpAnswer> + Send>> + Send + Sync>;

/// The host's side of one run.
pub struct Ports {
    pub events: EventSink,
    pub http: HttpSender,
}

impl Ports {
    /// For what may only compute: events go nowhere and every request is refused.
    #[must_use]
    pub fn closed() -> Self {
        let refused = || HttpError::new(HttpErrorCode::Denied, "nothing is reached from here");
        Self { events: Box::new(drop), http: Arc::new(move |_| Box::pin(std::future::ready(Err(refused())))) }
    }
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

/// Why a request has no answer; the run goes on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HttpError {
    pub code: HttpErrorCode,
    pub message: String,
}

/// Enough for a sentence with a host or a URL in it; a run may have many unread.
const MESSAGE_BYTES_MAX: usize = 512;

impl HttpError {
    pub fn new(code: HttpErrorCode, message: impl Into<String>) -> Self {
        Self { code, message: crate::outcome::cut(message.into(), MESSAGE_BYTES_MAX) }
    }
}

/// The codes of `scaffold/wit`, which says what they mean.
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
    /// A name that never changes, for records.
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

    /// Whether nothing was sent, because the host would not.
    #[must_use]
    pub const fn is_refusal(self) -> bool {
        matches!(self, Self::Denied | Self::Budget | Self::InvalidRequest | Self::RequestTooLarge | Self::Simulated)
    }
}
