//! Messages between a run and its host. They are plain data, so that they can cross a process boundary.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::text::cut;

/// Receives a run's status events and log messages. It must not block.
pub type EventSink = Box<dyn Fn(EventDocument) + Send + Sync>;
/// An [`EventSink`] that several senders share.
pub(crate) type SharedEventSink = Arc<dyn Fn(EventDocument) + Send + Sync>;

/// Log messages that a listener receives of one run: as many as status events at most.
pub(crate) const LOG_MESSAGES_MAX: u32 = 1_000;
/// Bytes of the JSON of a log message: twice the largest status event.
pub(crate) const LOG_DATA_BYTES_MAX: usize = 8 << 10;
/// Bytes of the name of a logger.
pub(crate) const LOGGER_BYTES_MAX: usize = 128;

pub type HttpAnswer = Result<HttpResponse, HttpError>;

/// Admits, sends and counts a run's HTTP requests. Dropping the future cancels the request.
pub type HttpSender = Arc<dyn Fn(HttpRequest) -> Pin<Box<dyn Future<Output = HttpAnswer> + Send>> + Send + Sync>;

/// The capabilities that the host gives one run.
pub struct Ports {
    pub events: EventSink,
    pub http: HttpSender,
}

impl Ports {
    /// Drops every event and refuses every HTTP request.
    #[must_use]
    pub fn closed() -> Self {
        let refused = || HttpError::new(HttpErrorCode::Denied, "outbound HTTP is not available here");
        Self { events: Box::new(drop), http: Arc::new(move |_| Box::pin(std::future::ready(Err(refused())))) }
    }
}

/// An event of a running tool.
#[derive(Debug, Clone)]
pub enum EventDocument {
    Status(StatusDocument),
    Log(LogDocument),
}

/// The levels of syslog, lowest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LogLevel {
    Debug,
    Info,
    Notice,
    Warning,
    Error,
    Critical,
    Alert,
    Emergency,
}

/// The log message of a tool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LogDocument {
    pub level: LogLevel,
    pub logger: Option<String>,
    pub data: Value,
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

impl LogLevel {
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Debug => "debug",
            Self::Info => "info",
            Self::Notice => "notice",
            Self::Warning => "warning",
            Self::Error => "error",
            Self::Critical => "critical",
            Self::Alert => "alert",
            Self::Emergency => "emergency",
        }
    }
}

impl LogDocument {
    /// Whether a text may be the name of a logger.
    pub(crate) fn is_logger(text: &str) -> bool {
        (1..=LOGGER_BYTES_MAX).contains(&text.len()) && !text.chars().any(char::is_control)
    }
}

/// Renders the message as one line: `[warning] logger: text`. A text with control characters is shown as JSON.
impl fmt::Display for LogDocument {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { level, logger, data } = self;
        write!(formatter, "[{}] ", level.as_str())?;
        if let Some(logger) = logger {
            write!(formatter, "{logger}: ")?;
        }
        match data {
            Value::String(text) if !text.chars().any(char::is_control) => formatter.write_str(text),
            data => write!(formatter, "{data}"),
        }
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_log_message_is_one_line() {
        let line = |logger: Option<&str>, data: Value| {
            LogDocument { level: LogLevel::Warning, logger: logger.map(str::to_owned), data }.to_string()
        };
        assert_eq!(line(Some("billing"), json!("no rate")), "[warning] billing: no rate");
        assert_eq!(line(None, json!({"rate": null})), r#"[warning] {"rate":null}"#);
        assert_eq!(line(None, json!("two\nlines")), r#"[warning] "two\nlines""#);
    }
}
