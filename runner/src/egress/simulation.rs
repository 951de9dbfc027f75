//! What stands in for the world in a simulation.

use std::sync::Arc;

use super::answers::{Recall, digest};
use super::standins::Standins;
use super::trip::Source;
use crate::{HttpAnswer, HttpError, HttpErrorCode, HttpRequest};

/// The mocks of a version, and the recorded answers of its tool if that allows it.
#[derive(Clone)]
pub struct Simulation {
    pub standins: Arc<Standins>,
    pub recall: Option<Recall>,
    /// Nothing goes out then, not even what changes nothing.
    pub is_sealed: bool,
}

impl Simulation {
    /// Who answers a request, and what. Nothing for one that may go out: without a mock, and changing nothing.
    pub(super) async fn answer(&self, request: &HttpRequest, is_safe: bool) -> Option<(Source, HttpAnswer)> {
        if let Some(answer) = self.standins.answer(request) {
            return Some((Source::Mock, Ok(answer)));
        }
        if is_safe && !self.is_sealed { None } else { Some((Source::Recorded, self.recorded(request).await)) }
    }

    async fn recorded(&self, request: &HttpRequest) -> HttpAnswer {
        let found = match &self.recall {
            Some(recall) => recall(digest(request)).await?,
            None => None,
        };
        let HttpRequest { method, url, .. } = request;
        let message = || match self.is_sealed {
            true => format!("this is a check, and no mock stands for {method} {url}"),
            false => {
                format!("this is a simulation, and neither a mock nor a recorded answer stands for {method} {url}")
            }
        };
        found.ok_or_else(|| HttpError::new(HttpErrorCode::Simulated, message()))
    }
}
