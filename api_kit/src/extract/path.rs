//! Path parameters, percent-decoded by axum and parsed into types of the registry.

use std::sync::Arc;

use axum::extract::{FromRequestParts, RawPathParams};
use axum::http::request::Parts;

use super::{Decoder as _, Text, TextDecoder as _};
use crate::error::{Error, Problem};
use crate::openapi::{DocumentedInput, Inputs, Parameter};

/// A type that is read from a path parameter.
pub trait PathParameter: Sized + 'static {
    /// The parameter's name in the route.
    const NAME: &'static str;

    /// The parameter's description in the OpenAPI document.
    const DESCRIPTION: &'static str;

    fn decoder() -> Text<Self>;

    fn parse_parameter(text: &str) -> Result<Self, String> {
        Self::decoder().parse(text)
    }
}

/// The parsed value of one path parameter.
pub struct InPath<T>(pub T);

impl<T: PathParameter> DocumentedInput for InPath<T> {
    fn describe(inputs: &mut Inputs) {
        inputs.parameters.push(Parameter::path(T::NAME, T::DESCRIPTION, T::decoder().schema()));
    }
}

impl<S: Send + Sync, T: PathParameter> FromRequestParts<S> for InPath<T> {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Error> {
        let text = read_parameter(parts, state, T::NAME).await?;
        T::parse_parameter(&text).map(Self).map_err(|error| {
            let location = vec!["path".into(), T::NAME.into()];
            Error::Invalid { problems: vec![Problem::new(location, "value_error", error)] }
        })
    }
}

/// The decoded parameters of a request, kept in its extensions after the first use.
#[derive(Clone)]
struct Decoded(Arc<RawPathParams>);

/// Returns the text of the parameter `name`. A text that is not UTF-8 cannot name anything: it is not found.
pub async fn read_parameter<S: Send + Sync>(parts: &mut Parts, state: &S, name: &str) -> Result<String, Error> {
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
