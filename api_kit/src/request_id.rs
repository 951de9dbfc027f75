//! Request ids: each is generated here, returned as `x-request-id`, and the only detail of a fault that a caller sees.
//!
//! An id that the client, or a proxy in front of the server, sends is not taken over, so that no client can make two
//! requests look like one. The log has both ids ([`crate::request_log`]).

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use axum::extract::FromRequestParts;
use axum::http::HeaderName;
use axum::http::request::Parts;
use registry::Clock;

use crate::error::Error;
use crate::openapi::{DocumentedInput, Inputs};

pub const HEADER: HeaderName = HeaderName::from_static("x-request-id");

/// The id of one request.
#[derive(Clone, Debug)]
pub struct RequestId(Arc<str>);

impl RequestId {
    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub fn for_tests() -> Self {
        Self("test".into())
    }
}

/// Generates request ids: the start time of this process, then a count. Clones share the count.
#[derive(Clone, Debug)]
pub struct RequestIds {
    started: Arc<str>,
    next: Arc<AtomicU64>,
}

impl RequestIds {
    pub fn new(clock: &Clock) -> Self {
        let started = format!("{:x}", clock.now().as_milliseconds()).into();
        Self { started, next: Arc::new(AtomicU64::new(1)) }
    }

    pub fn next(&self) -> RequestId {
        let count = self.next.fetch_add(1, Ordering::Relaxed);
        RequestId(format!("{}-{count:x}", self.started).into())
    }
}

impl DocumentedInput for RequestId {
    fn describe(_: &mut Inputs) {}
}

impl<S: Sync> FromRequestParts<S> for RequestId {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Error> {
        let id = parts.extensions.get::<Self>().cloned();
        id.ok_or_else(|| Error::Internal { detail: "the request has no id".into() })
    }
}
