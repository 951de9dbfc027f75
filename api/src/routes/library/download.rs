//! `GET /api/v1/downloads/{download}`: the content of an artifact, for everyone who has the link.

use agents::{AgentStore, ArtifactEncoding, DownloadToken, LibraryItem};
use api_kit::error::Error;
use api_kit::extract::InPath;
use api_kit::openapi::{OperationDoc, STORE_CODES};
use axum::extract::State;
use axum::http::HeaderValue;
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderName, REFERRER_POLICY};
use axum::response::{IntoResponse, Response};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use registry::is_hidden;
use serde_json::Value;

use crate::sections;

/// An artifact may be a page of a model's making. A browser saves it, and runs nothing of it with the rights of this server's pages.
const SAFE: [(HeaderName, HeaderValue); 2] = [
    (CONTENT_SECURITY_POLICY, HeaderValue::from_static("sandbox; default-src 'none'")),
    (REFERRER_POLICY, HeaderValue::from_static("no-referrer")),
];

pub(crate) fn operation() -> OperationDoc {
    OperationDoc::new("download-artifact", sections::LIBRARY, "Download an artifact by its link")
        .description(
            "The content of an artifact, with the media type that it was saved with. `artifact_get` with `with_download_url` \
            returns the link, which needs no token and works for fifteen minutes, or longer if the artifact is public.",
        )
        .returns_bytes(200, "The content.", &["*/*"])
        .errors(400, &["download_expired"])
        .errors(404, &["not_found"])
        .errors(422, &["request_invalid"])
        .errors(503, STORE_CODES)
}

pub(crate) async fn handle(
    State(store): State<AgentStore>,
    InPath(token): InPath<DownloadToken>,
) -> Result<Response, Error> {
    let artifact = store.downloaded(&token).await?.ok_or(Error::NotFound)?;
    let text = |name: &str| artifact.body.get(name).and_then(Value::as_str).unwrap_or_default();
    let media_type = HeaderValue::from_str(text("content_type"));
    let media_type = media_type.unwrap_or(HeaderValue::from_static("application/octet-stream"));
    let headers = [(CONTENT_TYPE, media_type), (CONTENT_DISPOSITION, build_disposition(&artifact)?)];
    let content = ArtifactEncoding::of(text("content_encoding")).decode(text("content").to_owned());
    Ok((SAFE, headers, content).into_response())
}

/// The title as the name of a file.
fn build_disposition(artifact: &LibraryItem) -> Result<HeaderValue, Error> {
    let title = artifact.body.get("title").and_then(Value::as_str).unwrap_or("artifact");
    let title: String = title.chars().map(|c| if matches!(c, '/' | '\\') || is_hidden(c) { '_' } else { c }).collect();
    let value = format!("attachment; filename*=UTF-8''{}", utf8_percent_encode(&title, NON_ALPHANUMERIC));
    HeaderValue::from_str(&value).map_err(|error| Error::Internal { detail: error.to_string() })
}
