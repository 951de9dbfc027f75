//! The signed-in user, as handlers receive it.

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use registry::Principal;

use crate::error::Error;
use crate::openapi::{DocumentedInput, Inputs};

/// The signed-in user of a request, after the check of the route's permission.
#[derive(Clone)]
pub struct Caller(pub Principal);

/// The document describes credentials once for all routes that have a permission.
impl DocumentedInput for Caller {
    fn describe(_: &mut Inputs) {}
}

impl<S: Sync> FromRequestParts<S> for Caller {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Error> {
        let caller = parts.extensions.get::<Self>().cloned();
        caller.ok_or_else(|| Error::Internal { detail: "a handler that needs a caller is on a public route".into() })
    }
}
