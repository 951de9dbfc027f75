//! `Lathe-Depth`: the number of tool runs that led to this call.

use std::convert::Infallible;

use axum::extract::FromRequestParts;
use axum::http::HeaderMap;
use axum::http::request::Parts;
use runner::{DEPTH_HEADER, Depth};
use serde_json::json;

use crate::openapi::{DocumentedInput, Inputs, Parameter};

const DESCRIPTION: &str = "The number of tool runs that led to this call. The server adds the header to requests of \
    tools; a depth above 3 is refused.";

pub struct CallDepth(pub Depth);

impl DocumentedInput for CallDepth {
    fn describe(inputs: &mut Inputs) {
        inputs.parameters.push(Parameter::header(DEPTH_HEADER, DESCRIPTION, json!({"type": "string"})));
    }
}

impl CallDepth {
    /// Reads the depth of a request: the largest of several values.
    pub fn of(headers: &HeaderMap) -> Self {
        let given = headers.get_all(DEPTH_HEADER).iter().filter_map(|value| value.to_str().ok());
        Self(given.map(Depth::of).max_by_key(|depth| depth.of_requests()).unwrap_or_default())
    }
}

impl<S: Sync> FromRequestParts<S> for CallDepth {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        Ok(Self::of(&parts.headers))
    }
}
