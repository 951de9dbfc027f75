//! `GET /docs/{asset}`: scripts and styles of the pages. The crate `swagger-ui-dist` has the released files of Swagger UI.

use std::sync::LazyLock;

use api_kit::error::Error;
use api_kit::extract;
use api_kit::openapi::{DocumentedInput, Inputs, OperationDoc, Parameter, schemas};
use axum::Router;
use axum::body::Body;
use axum::extract::FromRequestParts;
use axum::http::header::CONTENT_TYPE;
use axum::http::request::Parts;
use axum::http::{Request, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use swagger_ui_dist::{ApiDefinition, OpenApiSource, generate_routes};
use tower::ServiceExt;

use super::build_headers;
use crate::sections;

/// An asset needs no other source and no frame.
const POLICY: &str = "default-src 'none'; frame-ancestors 'none'";

const JAVASCRIPT: &str = "text/javascript; charset=utf-8";
const CSS: &str = "text/css; charset=utf-8";

/// The crate has its files as routes. This server requests them itself and does not serve the routes.
static SWAGGER_UI: LazyLock<Router> = LazyLock::new(|| {
    generate_routes(ApiDefinition { uri_prefix: "/ui", api_definition: OpenApiSource::Uri(""), title: None })
});

/// The name of an asset.
pub(crate) struct Asset(String);

pub(crate) fn operation() -> OperationDoc {
    OperationDoc::new("get-reference-asset", sections::SERVICE, "Get a file of the reference")
        .description("Scripts and styles of the pages below `/docs`.")
        .parameter(Parameter::path("asset", "The file's name.", schemas::text()))
        .returns_bytes(200, "The file.", &["text/javascript", "text/css"])
        .errors(404, &["not_found"])
}

pub(crate) async fn handle(Asset(name): Asset) -> Result<Response, Error> {
    match name.as_str() {
        "reference.js" => Ok((build_headers(JAVASCRIPT, POLICY), include_str!("reference.js")).into_response()),
        "page.css" => Ok((build_headers(CSS, POLICY), include_str!("page.css")).into_response()),
        "swagger-ui-bundle.js" => serve_swagger_ui(Uri::from_static("/ui/swagger-ui-bundle.js"), JAVASCRIPT).await,
        "swagger-ui.css" => serve_swagger_ui(Uri::from_static("/ui/swagger-ui.css"), CSS).await,
        _ => Err(Error::NotFound),
    }
}

async fn serve_swagger_ui(uri: Uri, content_type: &'static str) -> Result<Response, Error> {
    let mut request = Request::new(Body::empty());
    *request.uri_mut() = uri;
    let Ok(mut response) = SWAGGER_UI.clone().oneshot(request).await;
    if response.status() != StatusCode::OK {
        return Err(Error::Internal { detail: "the crate swagger-ui-dist lacks a file".into() });
    }
    response.headers_mut().remove(CONTENT_TYPE);
    Ok((build_headers(content_type, POLICY), response).into_response())
}

impl<S: Send + Sync> FromRequestParts<S> for Asset {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Error> {
        extract::read_parameter(parts, state, "asset").await.map(Self)
    }
}

/// The operation describes the parameter: an unknown name is not found, not invalid.
impl DocumentedInput for Asset {
    fn describe(_: &mut Inputs) {}
}
