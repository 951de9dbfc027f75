//! `Idempotency-Key`: a request that a client may repeat, and the fingerprint that detects another request under the
//! same key.

use axum::extract::{FromRequest, Request};
use axum::http::{HeaderMap, Method, Uri};
use registry::{Digest, IdempotencyKey, Once};
use serde_json::{Value, json};

use super::body::{Body, FromBody, read_fields, read_json};
use super::ignored_fields::IgnoredFields;
use crate::error::{Error, Problem};
use crate::openapi::{DocumentedInput, Inputs, Parameter};

const HEADER: &str = "idempotency-key";

const DESCRIPTION: &str = "A name that the client gives to this request. A request that is repeated with the same key \
    and body gets the same response and is carried out once.";

/// The parsed body and the idempotency key.
pub struct Idempotent<T> {
    pub request: T,
    pub once: Option<Once>,
}

impl<T: FromBody> DocumentedInput for Idempotent<T> {
    fn describe(inputs: &mut Inputs) {
        let key = json!({"type": "string", "minLength": 1, "maxLength": 255, "pattern": "^[!-~]*$"});
        inputs.parameters.push(Parameter::header(HEADER, DESCRIPTION, key));
        Body::<T>::describe(inputs);
    }
}

impl<S: Sync, T: FromBody + Send + 'static> FromRequest<S> for Idempotent<T> {
    type Rejection = Error;

    async fn from_request(request: Request, _: &S) -> Result<Self, Error> {
        let key = read_key(request.headers())?;
        let ignored = IgnoredFields::of(&request);
        let asked = key.map(|key| (key, request.method().clone(), request.uri().clone()));
        let read = move |body: Value| {
            let once = asked.map(|(key, method, uri)| Once { key, request: digest_request(&method, &uri, &body) });
            Ok(Self { request: read_fields(&body, &ignored)?, once })
        };
        read_json(request, read).await
    }
}

fn read_key(headers: &HeaderMap) -> Result<Option<IdempotencyKey>, Error> {
    let mut given = headers.get_all(HEADER).iter();
    let Some(key) = given.next() else { return Ok(None) };
    if given.next().is_some() {
        return Err(refuse_key("value_error", "should occur once".into()));
    }
    let text = key.to_str().unwrap_or_default();
    let key = IdempotencyKey::parse(text).map_err(|error| refuse_key("value_error", error.to_string()))?;
    Ok(Some(key))
}

/// The error of another request under a key in use.
pub fn refuse_reused_key() -> Error {
    refuse_key("idempotency_key_reused", "this key belongs to another request; use a new key".into())
}

fn refuse_key(kind: &'static str, message: String) -> Error {
    Error::Invalid { problems: vec![Problem::new(vec!["header".into(), HEADER.into()], kind, message)] }
}

/// A digest of method, path and body. White space, the order of keys and a slash at the end of the path do not count.
fn digest_request(method: &Method, uri: &Uri, body: &Value) -> Digest {
    let path = uri.path().trim_end_matches('/');
    Digest::of(format!("{method} {path}\n{body}").as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(method: Method, path: &str, body: &str) -> Digest {
        digest_request(&method, &path.parse().unwrap(), &serde_json::from_str(body).unwrap())
    }

    #[test]
    fn equal_requests_are_recognised_and_others_distinguished() {
        let first = of(Method::POST, "/a/b", r#"{"a": 1, "b": {"c": [1, 2], "d": null}}"#);
        assert_eq!(first, of(Method::POST, "/a/b/", r#"{"b":{"d":null,"c":[1,2]},"a":1}"#));
        for (method, path, body) in [
            (Method::PUT, "/a/b", r#"{"a": 1, "b": {"c": [1, 2], "d": null}}"#),
            (Method::POST, "/a", r#"{"a": 1, "b": {"c": [1, 2], "d": null}}"#),
            (Method::POST, "/a/b", r#"{"a": 1, "b": {"c": [2, 1], "d": null}}"#),
            (Method::POST, "/a/b", r#"{"a": "1", "b": {"c": [1, 2], "d": null}}"#),
            (Method::POST, "/a/b", r#"{"a": 1, "b": {"c": [1, 2]}}"#),
        ] {
            assert_ne!(first, of(method, path, body), "{path} {body}");
        }
    }

    #[test]
    fn a_key_is_visible_ascii_of_bounded_length() {
        let given = |values: &[&[u8]]| {
            let mut headers = HeaderMap::new();
            for value in values {
                headers.append(HEADER, axum::http::HeaderValue::from_bytes(value).unwrap());
            }
            read_key(&headers).map(|key| key.is_some())
        };
        assert!(!given(&[]).unwrap());
        assert!(given(&[b"8f0e-\"x\""]).unwrap() && given(&[&[b'k'; 255]]).unwrap());
        for bad in [&b""[..], b"a b", b"\xc3\xa9", b"\xff", b"a\tb", &[b'k'; 256]] {
            assert!(matches!(given(&[bad]), Err(Error::Invalid { .. })), "{bad:?}");
        }
        assert!(given(&[b"a", b"a"]).is_err());
    }
}
