//! Answers requests of simulations and checks.

use std::sync::Arc;

use super::compiled_mocks::CompiledMocks;
use super::recorded_responses::{ResponseLookup, compute_digest};
use super::request_effect::RequestEffect;
use crate::sandbox::ports::{HttpAnswer, HttpError, HttpErrorCode, HttpRequest};

/// The mocks of a version, and the recorded responses of its tool when the tool allows them.
#[derive(Clone)]
pub struct Simulation {
    pub mocks: Arc<CompiledMocks>,
    pub lookup: Option<ResponseLookup>,
    /// Whether requests that only read are not sent either.
    pub is_sealed: bool,
}

/// The source of a response.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum ResponseSource {
    Network,
    Mock,
    Recorded,
}

impl ResponseSource {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Network => "network",
            Self::Mock => "mock",
            Self::Recorded => "recorded",
        }
    }
}

impl Simulation {
    /// Answers a request. `None` for a request that may be sent: it only reads, and no mock matches it.
    pub(super) async fn answer(
        &self,
        request: &HttpRequest,
        effect: &RequestEffect,
    ) -> Option<(ResponseSource, HttpAnswer)> {
        if let Some(answer) = self.mocks.answer(request) {
            return Some((ResponseSource::Mock, Ok(answer)));
        }
        if *effect == RequestEffect::Nothing && !self.is_sealed {
            return None;
        }
        Some((ResponseSource::Recorded, self.find_recorded(request, effect).await))
    }

    async fn find_recorded(&self, request: &HttpRequest, effect: &RequestEffect) -> HttpAnswer {
        let found = match &self.lookup {
            Some(lookup) => lookup(compute_digest(request)).await?,
            None => None,
        };
        let HttpRequest { method, url, .. } = request;
        let message = || match (self.is_sealed, effect) {
            (true, _) => format!("no mock matches {method} {url}, and this run sends no requests"),
            (false, RequestEffect::Override(part)) => format!(
                "in a simulation, {part} may not ask the server for another method than {method}; no mock and no recorded \
                 answer match {url}"
            ),
            (false, _) => {
                format!(
                    "a simulation does not send this request, and no mock and no recorded answer match {method} {url}"
                )
            }
        };
        found.ok_or_else(|| HttpError::new(HttpErrorCode::Simulated, message()))
    }
}
