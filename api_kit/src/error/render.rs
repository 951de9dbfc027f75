//! Renders errors, for plain responses and for event streams.

use axum::Json;
use axum::http::StatusCode;
use axum::http::header::{ACCEPT_ENCODING, HeaderMap, HeaderValue, RETRY_AFTER, WWW_AUTHENTICATE};
use axum::response::{IntoResponse, Response};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use super::pointers::Pointers;
use super::{Error, Kind, round_up_to_seconds};

/// Bytes of a detail. The longest is a refusal with a compiler's output.
const DETAIL_BYTES_MAX: usize = 64 << 10;

/// An error response.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Refusal {
    #[serde(skip)]
    pub status: StatusCode,
    #[serde(skip)]
    retry_after_seconds: Option<u64>,
    /// A message for people. It may change.
    #[schemars(with = "String")]
    pub detail: Value,
    /// A stable name for programs.
    pub code: &'static str,
    #[serde(flatten)]
    pointers: Pointers,
}

/// The code of a refusal, as an extension of its response for middleware.
#[derive(Clone, Copy, Debug)]
pub struct RefusalCode(pub &'static str);

/// A failure of the server. The request log logs it and hides it from the caller.
#[derive(Clone, Debug)]
pub struct Fault {
    code: &'static str,
    detail: String,
}

impl Kind {
    pub const fn status(self) -> StatusCode {
        match self {
            Self::BadRequest => StatusCode::BAD_REQUEST,
            Self::Unauthenticated => StatusCode::UNAUTHORIZED,
            Self::Forbidden => StatusCode::FORBIDDEN,
            Self::NotFound => StatusCode::NOT_FOUND,
            Self::MethodNotAllowed => StatusCode::METHOD_NOT_ALLOWED,
            Self::Timeout => StatusCode::REQUEST_TIMEOUT,
            Self::Conflict => StatusCode::CONFLICT,
            Self::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
            Self::UnsupportedMediaType => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            Self::UriTooLong => StatusCode::URI_TOO_LONG,
            Self::HeadersTooLarge => StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE,
            Self::Invalid => StatusCode::UNPROCESSABLE_ENTITY,
            Self::TooManyRequests => StatusCode::TOO_MANY_REQUESTS,
            Self::Internal => StatusCode::INTERNAL_SERVER_ERROR,
            Self::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
        }
    }
}

impl Error {
    /// Returns the refusal to show or the fault to hide.
    pub fn into_refusal(self) -> Result<Refusal, Fault> {
        let (error, pointers) = self.with_pointers();
        let (status, code) = (error.kind().status(), error.code());
        let retry_after_seconds = error.retry_after().map(|wait| round_up_to_seconds(wait).max(1));
        let detail = match (error.kind(), error) {
            (Kind::Internal, error) => return Err(Fault { code, detail: join_causes(&error) }),
            (_, Self::Invalid { problems }) => json!(problems),
            (_, error) if error.is_anonymous() => json!(Self::NotFound.to_string()),
            (Kind::Unavailable, error) if !error.is_presentable() => {
                tracing::warn!(error = join_causes(&error), "request refused for now");
                json!(describe_unavailable(&error))
            }
            (_, error) => {
                if let Self::Repository(repository::Error::Damaged { detail }) = &error {
                    tracing::error!(code, detail, "a git repository is damaged");
                }
                json!(cut(error.to_string()))
            }
        };
        Ok(Refusal { status, retry_after_seconds, detail, code, pointers })
    }
}

/// The text for callers about an error whose own text may name paths of the machine.
fn describe_unavailable(error: &Error) -> &'static str {
    match error {
        Error::Registry(registry::Error::StorageFailing { .. }) => {
            "The storage of the server is full or failing; tell its operator."
        }
        _ => "The service cannot do this now; try again later.",
    }
}

impl Fault {
    pub fn new(detail: impl Into<String>) -> Self {
        Self { code: "internal", detail: detail.into() }
    }

    /// Logs the fault and returns the refusal that the caller sees.
    pub fn log(self, request_id: &str) -> Refusal {
        tracing::error!(request_id, code = self.code, detail = self.detail, "request failed");
        let detail = json!(format!("Something went wrong here. Request id: {request_id}"));
        let status = StatusCode::INTERNAL_SERVER_ERROR;
        Refusal { status, retry_after_seconds: None, detail, code: "internal", pointers: Pointers::default() }
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let code = RefusalCode(self.code);
        let mut response = (self.status, self.build_extra_headers(), Json(&self)).into_response();
        response.extensions_mut().insert(code);
        response.extensions_mut().insert(self);
        response
    }
}

impl IntoResponse for Fault {
    fn into_response(self) -> Response {
        let mut response = StatusCode::INTERNAL_SERVER_ERROR.into_response();
        response.extensions_mut().insert(self);
        response
    }
}

impl IntoResponse for Error {
    fn into_response(self) -> Response {
        self.into_refusal().map_or_else(Fault::into_response, Refusal::into_response)
    }
}

impl Refusal {
    /// Seconds to wait before the next try, if the response has them.
    pub const fn retry_after_seconds(&self) -> Option<u64> {
        self.retry_after_seconds
    }

    /// `Basic` comes first: git asks its credential helper only for Basic authentication.
    fn build_extra_headers(&self) -> HeaderMap {
        let mut headers = HeaderMap::new();
        if self.status == StatusCode::UNAUTHORIZED {
            headers.append(WWW_AUTHENTICATE, HeaderValue::from_static(r#"Basic realm="lathe""#));
            headers.append(WWW_AUTHENTICATE, HeaderValue::from_static(r#"Bearer realm="lathe""#));
        }
        // Only bodies of git have encodings.
        if self.status == StatusCode::UNSUPPORTED_MEDIA_TYPE {
            headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("gzip"));
        }
        if let Some(seconds) = self.retry_after_seconds {
            headers.insert(RETRY_AFTER, HeaderValue::from(seconds));
        }
        headers
    }
}

/// The beginning of a long detail, which has the length of the message in a build's record.
fn cut(mut detail: String) -> String {
    detail.truncate(detail.floor_char_boundary(DETAIL_BYTES_MAX));
    detail
}

fn join_causes(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(Some(error), |error| error.source());
    causes.map(ToString::to_string).collect::<Vec<_>>().join(": ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_detail_has_a_bound() {
        let refused = Error::Refused { code: "x", detail: "é".repeat(1 << 20) }.into_refusal();
        assert!(
            refused.is_ok_and(|refusal| refusal.detail.as_str().is_some_and(|text| text.len() == DETAIL_BYTES_MAX))
        );
    }
}
