//! `GET /docs/{asset}`: what the pages load. Swagger UI comes from the crate `swagger-ui-dist`, as it was released.

use std::sync::LazyLock;

use axum::Router;
use axum::body::Body;
use axum::extract::FromRequestParts;
use axum::http::header::CONTENT_TYPE;
use axum::http::request::Parts;
use axum::http::{Request, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use swagger_ui_dist::{ApiDefinition, OpenApiSource, generate_routes};
use tower::ServiceExt;

use super::headers;
use crate::error::Error;
use crate::extract;
use crate::openapi::{Inputs, Operation, Parameter, Reads, Tag, form};

/// An asset runs or frames nothing by itself.
const POLICY: &str = "default-src 'none'; frame-ancestors 'none'";

const JAVASCRIPT: &str = "text/javascript; charset=utf-8";
const CSS: &str = "text/css; charset=utf-8";

/// The crate has its files as routes; they are asked here, and never served as they are.
static SWAGGER_UI: LazyLock<Router> = LazyLock::new(|| {
    generate_routes(ApiDefinition { uri_prefix: "/ui", api_definition: OpenApiSource::Uri(""), title: None })
});

/// The name of an asset.
pub(crate) struct Asset(String);

pub(crate) fn operation() -> Operation {
    Operation::new("get-reference-asset", Tag::Service, "A file that a page of the reference loads")
        .says("Scripts and styles of the pages below `/docs`.")
        .reads(Parameter::path("asset", "The file's name.", form::text()))
        .answers_bytes(200, "The file.", &["text/javascript", "text/css"])
        .refuses(404, &["not_found"])
}

pub(crate) async fn handle(Asset(name): Asset) -> Result<Response, Error> {
    match name.as_str() {
        "reference.js" => Ok((headers(JAVASCRIPT, POLICY), include_str!("reference.js")).into_response()),
        "page.css" => Ok((headers(CSS, POLICY), include_str!("page.css")).into_response()),
        "swagger-ui-bundle.js" => swagger_ui(Uri::from_static("/ui/swagger-ui-bundle.js"), JAVASCRIPT).await,
        "swagger-ui.css" => swagger_ui(Uri::from_static("/ui/swagger-ui.css"), CSS).await,
        _ => Err(Error::NotFound),
    }
}

async fn swagger_ui(uri: Uri, content_type: &'static str) -> Result<Response, Error> {
    let mut request = Request::new(Body::empty());
    *request.uri_mut() = uri;
    let Ok(mut response) = SWAGGER_UI.clone().oneshot(request).await;
    if response.status() != StatusCode::OK {
        return Err(Error::Internal { detail: "the crate swagger-ui-dist lacks a file".into() });
    }
    response.headers_mut().remove(CONTENT_TYPE);
    Ok((headers(content_type, POLICY), response).into_response())
}

impl<S: Send + Sync> FromRequestParts<S> for Asset {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Error> {
        extract::parameter(parts, state, "asset").await.map(Self)
    }
}

/// Described in words: a name that is none is not found, rather than wrong in form.
impl Reads for Asset {
    fn reads(_: &mut Inputs) {}
}
