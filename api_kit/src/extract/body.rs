//! Reads a bounded JSON body into the request type of a handler. The server bounds the time that a body may take.

use axum::body::Body as HttpBody;
use axum::extract::{FromRequest, Request};
use axum::http::HeaderMap;
use axum::http::header::{CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE};
use http_body_util::BodyExt;
use registry::{do_heavy_work, parse_json};
use serde_json::{Map, Value};

use super::ignored_fields::IgnoredFields;
use super::node::{Node, Problems};
use super::{Decoder, Fields, Object};
use crate::body_bounds::{BodyBound, BodyRefused};
use crate::error::{Error, Problem};
use crate::openapi::{DocumentedInput, Inputs, RequestBody};
use crate::server::BodyError;

/// Size of a JSON body of any route; most have a lower bound of their own ([`crate::body_bounds`]). Ten inputs of 100 KiB fit.
const BODY_BYTES_MAX: usize = BodyBound::Content.bytes_max();

/// A request type that is read from a JSON object.
pub trait FromBody: Sized {
    /// The name of the schema in the OpenAPI document.
    const NAME: &'static str;

    /// A body that the schema admits.
    fn example() -> Value;

    /// Asks for every field, also after a problem. Returns `None` when a problem was noted.
    fn read(fields: &mut Fields) -> Option<Self>;
}

/// The error of a body whose sender lost the right to send it.
#[derive(Debug, thiserror::Error)]
#[error("the rights of the sender ended before the body")]
pub struct RightsEnded;

/// The parsed body of a request.
pub struct Body<T>(pub T);

impl<T: FromBody> DocumentedInput for Body<T> {
    fn describe(inputs: &mut Inputs) {
        inputs.body = Some(RequestBody {
            name: T::NAME,
            schema: Object(T::read).schema(),
            example: Some(T::example()),
            is_required: true,
        });
    }
}

impl<S: Sync, T: FromBody + Send + 'static> FromRequest<S> for Body<T> {
    type Rejection = Error;

    async fn from_request(request: Request, _: &S) -> Result<Self, Error> {
        let ignored = IgnoredFields::of(&request);
        read_json(request, move |body| read_fields(&body, &ignored)).await.map(Self)
    }
}

/// Reads the body as JSON of any content. A large body is parsed and read away from the threads that serve requests.
pub(super) async fn read_json<T: Send + 'static>(
    request: Request,
    read_value: impl FnOnce(Value) -> Result<T, Error> + Send + 'static,
) -> Result<T, Error> {
    expect_json(request.headers())?;
    expect_length(request.headers())?;
    let bytes = read(request.into_body()).await?;
    parse(bytes, read_value).await
}

async fn parse<T: Send + 'static>(
    bytes: Vec<u8>,
    read_value: impl FnOnce(Value) -> Result<T, Error> + Send + 'static,
) -> Result<T, Error> {
    let length = bytes.len();
    let parse = move || {
        let parsed = parse_json(&bytes).map_err(|error| refuse_body("json_invalid", &error.to_string()));
        read_value(parsed?)
    };
    do_heavy_work(length, parse).await.map_err(|error| Error::Internal { detail: error.to_string() })?
}

/// Reads the fields of a body, which may be missing.
pub async fn read_object(request: Request) -> Result<Map<String, Value>, Error> {
    let (parts, body) = request.into_parts();
    expect_length(&parts.headers)?;
    let bytes = read(body).await?;
    if bytes.is_empty() {
        return Ok(Map::new());
    }
    expect_json(&parts.headers)?;
    let object = |body| match body {
        Value::Object(fields) => Ok(fields),
        _ => Err(refuse_body("dict_type", "Input should be an object")),
    };
    parse(bytes, object).await
}

/// Reads a body of any content, also one that was stored.
pub fn parse_body<T: FromBody>(value: &Value) -> Result<T, Error> {
    read_fields(value, &IgnoredFields::default())
}

/// Reads a body, and notes the fields that its operation does not have: the response names them.
pub(super) fn read_fields<T: FromBody>(value: &Value, ignored: &IgnoredFields) -> Result<T, Error> {
    let problems = Problems::default();
    let parsed = Object(T::read).decode(&Node::root(value, &problems));
    let names = problems.find_ignored(value);
    if !names.is_empty() {
        ignored.set(names);
    }
    problems.finish(parsed)
}

fn expect_json(headers: &HeaderMap) -> Result<(), Error> {
    if headers.contains_key(CONTENT_ENCODING) {
        return Err(refuse_body("content_encoding", "The body has a Content-Encoding: send it without compression"));
    }
    let content_type = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let media_type = content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    if media_type == "application/json" || (media_type.starts_with("application/") && media_type.ends_with("+json")) {
        return Ok(());
    }
    Err(refuse_body("content_type", "Content-Type should be application/json"))
}

/// Refuses a body whose `Content-Length` is too large before the client sends it.
pub fn expect_length(headers: &HeaderMap) -> Result<(), Error> {
    let length = headers.get(CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse::<usize>().ok());
    if length.is_some_and(|bytes| bytes > BODY_BYTES_MAX) {
        return Err(Error::TooLarge { bytes_max: BODY_BYTES_MAX });
    }
    Ok(())
}

/// Reads a bounded body.
pub async fn read(mut body: HttpBody) -> Result<Vec<u8>, Error> {
    let mut bytes = Vec::new();
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(read_error)?;
        if let Some(data) = frame.data_ref() {
            if bytes.len() + data.len() > BODY_BYTES_MAX {
                return Err(Error::TooLarge { bytes_max: BODY_BYTES_MAX });
            }
            bytes.extend_from_slice(data);
        }
    }
    Ok(bytes)
}

/// The error of a body that could not be read to its end.
fn read_error(error: axum::Error) -> Error {
    let cause = match error.into_inner().downcast::<BodyRefused>() {
        Ok(refused) => return refused.0,
        Err(cause) => cause,
    };
    if cause.is::<RightsEnded>() {
        return Error::Unauthenticated;
    }
    match cause.downcast_ref() {
        Some(BodyError::TooSlow) => Error::TooSlow,
        Some(BodyError::CutOff(_)) | None => Error::CutOff,
    }
}

fn refuse_body(kind: &'static str, message: &str) -> Error {
    Error::Invalid { problems: vec![Problem::new(vec!["body".into()], kind, message)] }
}
