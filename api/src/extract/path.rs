//! Parameters of the path, percent-decoded by axum and parsed into registry types.

use std::fmt::Display;
use std::sync::Arc;

use axum::extract::{FromRequestParts, RawPathParams};
use axum::http::request::Parts;
use serde_json::Value;

use super::problem::Problem;
use crate::error::Error;
use crate::openapi::{Inputs, Parameter, Reads};

/// A type that is written in a path.
pub(crate) trait PathParameter: Sized {
    /// The parameter's name in the route.
    const NAME: &'static str;

    /// What it means, in words.
    const SAYS: &'static str;

    type Invalid: Display;

    /// The form of the text.
    fn form() -> Value;

    fn parse_parameter(text: &str) -> Result<Self, Self::Invalid>;
}

/// One parameter of the path.
pub(crate) struct InPath<T>(pub(crate) T);

impl<T: PathParameter> Reads for InPath<T> {
    fn reads(inputs: &mut Inputs) {
        inputs.parameters.push(Parameter::path(T::NAME, T::SAYS, T::form()));
    }
}

impl<S: Send + Sync, T: PathParameter> FromRequestParts<S> for InPath<T> {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Error> {
        let text = parameter(parts, state, T::NAME).await?;
        T::parse_parameter(&text).map(Self).map_err(|error| {
            let place = vec!["path".into(), T::NAME.into()];
            Error::Invalid { problems: vec![Problem::new(place, "value_error", error.to_string())] }
        })
    }
}

/// The parameters of a request once somebody has asked for one; an extension of the request.
#[derive(Clone)]
struct Decoded(Arc<RawPathParams>);

/// The text of the parameter `name`; one that is not UTF-8 names nothing, so it is not found.
pub(crate) async fn parameter<S: Send + Sync>(parts: &mut Parts, state: &S, name: &str) -> Result<String, Error> {
    let Decoded(parameters) = match parts.extensions.get() {
        Some(Decoded(known)) => Decoded(known.clone()),
        None => decode(parts, state).await?,
    };
    let found = parameters.iter().find(|(key, _)| *key == name);
    found.map(|(_, value)| value.to_owned()).ok_or(Error::NotFound)
}

async fn decode<S: Send + Sync>(parts: &mut Parts, state: &S) -> Result<Decoded, Error> {
    let parameters = RawPathParams::from_request_parts(parts, state).await.map_err(|_| Error::NotFound)?;
    let decoded = Decoded(Arc::new(parameters));
    parts.extensions.insert(decoded.clone());
    Ok(decoded)
}
