//! Outbound HTTP. No request leaves yet: a tool that asks gets a typed refusal.

use crate::bindings::tool::lathe::tool::http::{Host, HttpError, Request, Response};

const REFUSED: &str = "outbound HTTP is not enabled on this server";

impl Host for super::Host {
    async fn send(&mut self, request: Request) -> Result<Response, HttpError> {
        self.http_requests_refused += 1;
        tracing::debug!(method = %request.method, "an outbound request was refused");
        Err(HttpError::Denied(REFUSED.into()))
    }
}
