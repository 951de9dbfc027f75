//! `GET /v1/{organization}/tool/amigo_tool_scaffold.tar.gz`: the scaffold, as a package that pip and uv can install.

use std::sync::OnceLock;

use api_kit::error::Error;
use api_kit::openapi::OperationDoc;
use axum::body::Bytes;
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use axum::response::IntoResponse;

use crate::sections;

/// The packed archive, which is the same for all callers. Packing takes some milliseconds.
static ARCHIVE: OnceLock<Bytes> = OnceLock::new();

pub(crate) fn operation() -> OperationDoc {
    OperationDoc::new("get-tool-scaffold-release", sections::SOURCE, "Download the scaffold")
        .description(
            "The Python package `amigo_tool_scaffold` as a source archive, with a project template. pip and uv can install \
            from this URL, with the token as the password of Basic authentication.",
        )
        .returns_bytes(200, "The archive.", &["application/gzip"])
}

pub(crate) async fn handle() -> Result<impl IntoResponse, Error> {
    let disposition = format!("attachment; filename=\"{}\"", scaffold::ARCHIVE_NAME);
    Ok(([(CONTENT_TYPE, "application/gzip".to_owned()), (CONTENT_DISPOSITION, disposition)], build_archive()?))
}

fn build_archive() -> Result<Bytes, Error> {
    if let Some(packed) = ARCHIVE.get() {
        return Ok(packed.clone());
    }
    let packed = scaffold::pack().map_err(|error| Error::Internal { detail: error.to_string() })?;
    Ok(ARCHIVE.get_or_init(|| packed.into()).clone())
}
