//! The state of a call that waits for answers. The client keeps it, and sends it back with the answers.
//!
//! A state is signed with a key of the installation, so that every server reads it, and bound to its user, agent, tool, component
//! and arguments. It expires, and is used once.

use std::time::Duration;

use registry::{Clock, Digest, InvocationId, Store, Timestamp};
use rmcp::ErrorData;
use rmcp::model::{JsonObject, RequestStateCodec, SealOptions};
use runner::{Answer, ListedSource, ListedTool, Question, QuestionKind};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::scope::Scope;

/// Time that a person has to answer.
const ANSWERED_WITHIN: Duration = Duration::from_mins(15);
/// Bytes of a state: all answers of a call, in JSON and in base64.
const STATE_BYTES_MAX: usize = 512 << 10;

/// Seals and opens the states of an installation.
#[derive(Clone)]
pub(super) struct RequestStates {
    codec: RequestStateCodec,
    clock: Clock,
}

/// The call that a state belongs to.
pub(super) struct BoundCall<'a> {
    pub scope: &'a Scope,
    pub listed: &'a ListedTool,
    pub arguments: Option<&'a JsonObject>,
}

/// A call that waits for answers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct RequestState {
    /// The attempt that ended with questions. They are answered once.
    pub attempt: InvocationId,
    pub expires_at: Timestamp,
    /// Attempts so far.
    pub round: u32,
    /// Answers of earlier rounds.
    pub answers: Vec<Answer>,
    pub asked: Vec<OpenQuestion>,
}

/// A question that waits for its answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct OpenQuestion {
    pub key: String,
    pub kind: QuestionKind,
    pub digest: Digest,
}

impl OpenQuestion {
    pub fn of(question: &Question) -> Self {
        Self { key: question.key.clone(), kind: question.kind, digest: question.digest }
    }
}

impl BoundCall<'_> {
    /// Everything that a state is bound to. The keys of arguments are in their order.
    fn binding(&self) -> Vec<u8> {
        let Scope { principal, running, .. } = self.scope;
        let component = match &self.listed.source {
            ListedSource::Published { callable, .. } => Some((&callable.tool.id, callable.version.component_digest)),
            ListedSource::Native(_) => None,
        };
        let arguments = Digest::of(json!(self.arguments).to_string().as_bytes());
        let (organization, user, agent) = (&principal.organization, &principal.user, &running.agent.id);
        json!([organization.as_str(), user.as_str(), agent.as_str(), self.listed.name, component, arguments])
            .to_string()
            .into_bytes()
    }
}

impl RequestStates {
    pub fn new(store: &Store) -> Self {
        Self { codec: RequestStateCodec::new_unchecked(store.request_state_key()), clock: store.clock().clone() }
    }

    /// The time at which a state of now expires.
    pub fn expiry(&self) -> Timestamp {
        self.clock.now().after(ANSWERED_WITHIN)
    }

    pub fn seal(&self, state: &RequestState, call: &BoundCall<'_>) -> Result<String, ErrorData> {
        let binding = call.binding();
        let sealed = self.codec.seal_json_with(state, &SealOptions::new().associated_data(&binding));
        sealed.map_err(|error| ErrorData::internal_error(error.to_string(), None))
    }

    /// Opens the state of a call.
    ///
    /// # Errors
    /// When it was changed, belongs to another call or user, or has expired.
    pub fn open(&self, sealed: &str, call: &BoundCall<'_>) -> Result<RequestState, ErrorData> {
        let foreign = "requestState is not the state of this call: call the tool again without it";
        if sealed.len() > STATE_BYTES_MAX {
            return Err(ErrorData::invalid_params(foreign, None));
        }
        let opened = self.codec.open_json_with::<RequestState>(sealed, &call.binding());
        let state = opened.map_err(|_| ErrorData::invalid_params(foreign, None))?;
        if state.expires_at <= self.clock.now() {
            return Err(ErrorData::invalid_params("requestState has expired: call the tool again without it", None));
        }
        Ok(state)
    }
}
