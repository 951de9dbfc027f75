//! The answer to a client without sufficient credentials: where the description of the resource is (RFC 9728), and what is wrong
//! (RFC 6750).

use api_kit::error::RefusalCode;
use api_kit::public_url::PublicBase;
use axum::extract::{Request, State};
use axum::http::header::{AUTHORIZATION, WWW_AUTHENTICATE};
use axum::http::{HeaderValue, StatusCode};
use axum::middleware::Next;
use axum::response::Response;

use super::transport_refusal::convert_not_found_to_json_rpc;
use crate::oauth::SCOPE;

/// The beginning of the path of a description. The path of the resource follows.
const WELL_KNOWN: &str = "/.well-known/oauth-protected-resource";

/// Names the description of the resource in a response with the status 401, and in one with 403 for a missing permission. Gives one with
/// 404 the form of the protocol.
pub async fn add_challenge(State(public): State<PublicBase>, request: Request, next: Next) -> Response {
    let path = request.uri().path().to_owned();
    let base = public.as_written(request.headers());
    let has_credentials = request.headers().contains_key(AUTHORIZATION);
    let mut response = next.run(request).await;
    let error = match response.status() {
        StatusCode::UNAUTHORIZED if has_credentials => r#", error="invalid_token""#,
        StatusCode::UNAUTHORIZED => "",
        StatusCode::FORBIDDEN if is_permission_missing(&response) => r#", error="insufficient_scope""#,
        StatusCode::NOT_FOUND => return convert_not_found_to_json_rpc(response),
        _ => return response,
    };
    let Some(base) = base else { return response };
    let challenge =
        format!(r#"Bearer realm="lathe", resource_metadata="{base}{WELL_KNOWN}{path}", scope="{SCOPE}"{error}"#);
    if let Ok(value) = HeaderValue::from_str(&challenge) {
        response.headers_mut().insert(WWW_AUTHENTICATE, value);
    }
    response
}

/// Whether a right of the user is missing, and not a host or an origin refused.
fn is_permission_missing(response: &Response) -> bool {
    response.extensions().get::<RefusalCode>().is_some_and(|RefusalCode(code)| *code == "permission_missing")
}

#[cfg(test)]
mod tests {
    use api_kit::error::Error;
    use axum::Router;
    use axum::body::Body;
    use axum::middleware::from_fn_with_state;
    use axum::routing::get;
    use registry::Permission;
    use tower::ServiceExt;

    use super::*;

    async fn find_challenge(error: fn() -> Error, authorization: Option<&str>) -> Option<String> {
        let router = Router::new().route("/v1/acme/mcp/x", get(move || async move { error() }));
        let router = router.layer(from_fn_with_state(PublicBase::default(), add_challenge));
        let mut request = Request::get("/v1/acme/mcp/x").header("host", "lathe.test");
        if let Some(authorization) = authorization {
            request = request.header(AUTHORIZATION, authorization);
        }
        let response = router.oneshot(request.body(Body::empty()).unwrap()).await.unwrap();
        Some(response.headers().get(WWW_AUTHENTICATE)?.to_str().unwrap().to_owned())
    }

    #[tokio::test]
    async fn a_challenge_tells_what_is_wrong() {
        let start = r#"Bearer realm="lathe", resource_metadata="http://lathe.test/.well-known/oauth-protected-resource/v1/acme/mcp/x", scope="mcp""#;
        let forbidden = || Error::Forbidden { permission: Permission::InvokeTool };
        for (error, authorization, expected) in [
            ((|| Error::Unauthenticated) as fn() -> Error, None, Some(start.to_owned())),
            (|| Error::Unauthenticated, Some("Bearer x"), Some(format!(r#"{start}, error="invalid_token""#))),
            (forbidden, Some("Bearer x"), Some(format!(r#"{start}, error="insufficient_scope""#))),
            (|| Error::NotFound, Some("Bearer x"), None),
        ] {
            assert_eq!(find_challenge(error, authorization).await, expected);
        }
    }
}
