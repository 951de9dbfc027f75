//! `Lathe-Depth`: how many runs stand between this call and whoever began.

use std::convert::Infallible;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use runner::{DEPTH_HEADER, Depth};
use serde_json::json;

use crate::openapi::{Inputs, Parameter, Reads};

const SAYS: &str = "How many runs of tools stand between this call and whoever began. The server puts it into requests of \
    tools; more than 3 is refused.";

pub(crate) struct CallDepth(pub(crate) Depth);

impl Reads for CallDepth {
    fn reads(inputs: &mut Inputs) {
        inputs.parameters.push(Parameter::header(DEPTH_HEADER, SAYS, json!({"type": "string"})));
    }
}

impl<S: Sync> FromRequestParts<S> for CallDepth {
    type Rejection = Infallible;

    /// The deepest of several counts.
    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        let given = parts.headers.get_all(DEPTH_HEADER).iter().filter_map(|value| value.to_str().ok());
        Ok(Self(given.map(Depth::of).max_by_key(|depth| depth.of_requests()).unwrap_or_default()))
    }
}
