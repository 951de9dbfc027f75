//! Refusals in the forms that git and Git LFS show to their users.

use api_kit::error::Refusal;
use axum::body::Body;
use axum::extract::Request;
use axum::http::header::{CONTENT_LENGTH, CONTENT_TYPE, HeaderMap, HeaderValue, USER_AGENT};
use axum::middleware::Next;
use axum::response::Response;
use serde_json::{Value, json};

const LFS_TYPE: &str = "application/vnd.git-lfs+json";

/// The program that sent a request, by its `User-Agent`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Client {
    /// Shows a body of plain text when its first request is refused.
    Git,
    /// Shows the field `message`.
    Lfs,
}

/// Rewrites the refusal of a request of git or of Git LFS. Other clients get the JSON of all operations.
pub(crate) async fn rewrite_refusal(request: Request, next: Next) -> Response {
    let client = find_client(request.headers());
    let mut response = next.run(request).await;
    let (Some(client), Some(refusal)) = (client, response.extensions().get::<Refusal>()) else { return response };
    let words = read_words(refusal);
    let (form, body) = match client {
        Client::Git => ("text/plain; charset=utf-8", format!("{words}\n")),
        Client::Lfs => (LFS_TYPE, json!({"message": words, "detail": words, "code": refusal.code}).to_string()),
    };
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(form));
    response.headers_mut().remove(CONTENT_LENGTH);
    *response.body_mut() = Body::from(body);
    response
}

/// git, and the libraries that speak its protocol, begin their name with `git/`.
fn find_client(headers: &HeaderMap) -> Option<Client> {
    let name = headers.get(USER_AGENT)?.to_str().ok()?;
    match name {
        _ if name.starts_with("git/") => Some(Client::Git),
        _ if name.starts_with("git-lfs/") => Some(Client::Lfs),
        _ => None,
    }
}

fn read_words(refusal: &Refusal) -> String {
    if refusal.code == "not_found" {
        let at = "its address is SERVER/v1/ORGANIZATION/tool/git/tools.git, with the organisation of your credentials";
        return format!("There is no repository at this address, or not for you: {at}.");
    }
    match &refusal.detail {
        Value::String(detail) => detail.clone(),
        problems => problems.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use api_kit::error::Error;
    use axum::Router;
    use axum::middleware::from_fn;
    use axum::routing::get;
    use http_body_util::BodyExt;
    use tower::ServiceExt;

    use super::*;

    async fn answer_error(agent: &str, error: fn() -> Error) -> (String, String) {
        let router = Router::new().route("/", get(move || async move { error() })).layer(from_fn(rewrite_refusal));
        let request = Request::get("/").header(USER_AGENT, agent).body(Body::empty()).unwrap();
        let response = router.oneshot(request).await.unwrap();
        let form = response.headers()[CONTENT_TYPE].to_str().unwrap().to_owned();
        let body = response.into_body().collect().await.unwrap().to_bytes();
        (form, String::from_utf8(body.to_vec()).unwrap())
    }

    #[tokio::test]
    async fn each_client_gets_the_words_in_the_form_that_it_shows() {
        let error = || Error::Refused { code: "x", detail: "Do it otherwise.".to_owned() };
        let text = ("text/plain; charset=utf-8".to_owned(), "Do it otherwise.\n".to_owned());
        assert_eq!(answer_error("git/2.47.3", error).await, text);
        assert_eq!(answer_error("git/2.0 (libgit2 1.9.7)", error).await, text);
        let lfs = r#"{"message":"Do it otherwise.","detail":"Do it otherwise.","code":"x"}"#;
        let (form, body) = answer_error("git-lfs/3.3.0 (GitHub; linux amd64; go 1.19.8)", error).await;
        assert_eq!((form.as_str(), body.parse::<Value>().unwrap()), (LFS_TYPE, lfs.parse().unwrap()));
        let (form, body) = answer_error("curl/8", error).await;
        assert_eq!((form.as_str(), body.as_str()), ("application/json", r#"{"detail":"Do it otherwise.","code":"x"}"#));
        let (_, body) = answer_error("git/2.47.3", || Error::NotFound).await;
        assert!(body.contains("/v1/ORGANIZATION/tool/git/tools.git"), "{body}");
    }
}
