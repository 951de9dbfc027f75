//! The state of a call that waits for answers. The client keeps it, and sends it back with the answers.
//!
//! A state is signed with a key of the installation, so that every server reads it, and bound to its user, agent, tool, component
//! and arguments. It expires, and is used once.

use std::time::Duration;

use agents::{ListedSource, ListedTool};
use registry::{Clock, Digest, RawJson, RunId, Store, Timestamp};
use rmcp::ErrorData;
use rmcp::model::{RequestStateCodec, SealOptions};
use runner::{Answer, Question, QuestionKind};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::scope::Scope;

/// Time that a person has to answer.
const ANSWERED_WITHIN: Duration = Duration::from_mins(15);
/// Bytes of a state: all answers of a call, in JSON and in base64.
const STATE_BYTES_MAX: usize = 512 << 10;

/// Seals and opens the states of an installation.
#[derive(Clone)]
pub struct RequestStates {
    codec: RequestStateCodec,
    clock: Clock,
}

/// The call that a state belongs to.
pub struct BoundCall<'a> {
    pub scope: &'a Scope,
    pub listed: &'a ListedTool,
    pub arguments: &'a RawJson,
}

/// The user, agent, tool, component and arguments to which a state is bound, as bytes.
pub struct Binding(Vec<u8>);

/// A call that waits for answers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RequestState {
    /// The attempt that ended with questions. They are answered once.
    pub attempt: RunId,
    pub expires_at: Timestamp,
    /// Attempts so far.
    pub round: u32,
    /// Answers of earlier rounds.
    pub answers: Vec<Answer>,
    pub asked: Vec<OpenQuestion>,
}

/// A question that waits for its answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpenQuestion {
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
    pub fn digest_binding(&self) -> Binding {
        let Scope { principal, running, .. } = self.scope;
        let component = match &self.listed.source {
            ListedSource::Published { callable, .. } => Some((&callable.tool.id, callable.version.component_digest)),
            ListedSource::Native(_) => None,
        };
        let arguments = Digest::of(self.arguments.as_str().as_bytes());
        let (organization, account, agent) = (&principal.organization, &principal.account, &running.agent.id);
        let bytes =
            json!([organization.as_str(), account.as_str(), agent.as_str(), self.listed.name, component, arguments])
                .to_string()
                .into_bytes();
        Binding(bytes)
    }
}

impl RequestStates {
    pub fn new(store: &Store) -> Self {
        Self::with_key(store.derive_key("request states"), store.clock().clone())
    }

    fn with_key(key: [u8; 32], clock: Clock) -> Self {
        Self { codec: RequestStateCodec::new_unchecked(key), clock }
    }

    /// The time at which a state of now expires.
    pub fn compute_expiry(&self) -> Timestamp {
        self.clock.now().after(ANSWERED_WITHIN)
    }

    pub fn seal(&self, state: &RequestState, binding: &Binding) -> Result<String, ErrorData> {
        let sealed = self.codec.seal_json_with(state, &SealOptions::new().associated_data(&binding.0));
        sealed.map_err(|error| ErrorData::internal_error(error.to_string(), None))
    }

    /// Opens the state of a call.
    ///
    /// # Errors
    /// When it was changed, belongs to another call or user, or has expired.
    pub fn open(&self, sealed: &str, binding: &Binding) -> Result<RequestState, ErrorData> {
        let foreign = "requestState is not the state of this call: call the tool again without it";
        if sealed.len() > STATE_BYTES_MAX {
            return Err(ErrorData::invalid_params(foreign, None));
        }
        let opened = self.codec.open_json_with::<RequestState>(sealed, &binding.0);
        let state = opened.map_err(|_| ErrorData::invalid_params(foreign, None))?;
        if state.expires_at <= self.clock.now() {
            return Err(ErrorData::invalid_params("requestState has expired: call the tool again without it", None));
        }
        Ok(state)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OWN: fn() -> Binding = || Binding(b"ada, pay, 5".to_vec());

    fn build_states(key: u8) -> RequestStates {
        RequestStates::with_key([key; 32], Clock::fixed(Timestamp::from_milliseconds(1_000)))
    }

    fn build_state(states: &RequestStates) -> RequestState {
        let asked = OpenQuestion { key: "name".into(), kind: QuestionKind::Form, digest: Digest::of(b"a question") };
        let answer = Answer { key: "age".into(), question: Some(Digest::of(b"another")), result: "{}".into() };
        let attempt = RunId::new(&states.clock);
        RequestState {
            attempt,
            expires_at: states.compute_expiry(),
            round: 2,
            answers: vec![answer],
            asked: vec![asked],
        }
    }

    fn read_message(opened: Result<RequestState, ErrorData>) -> String {
        let error = opened.expect_err("a refusal");
        assert_eq!(error.code.0, -32602);
        error.message.into_owned()
    }

    #[test]
    fn a_state_opens_for_its_own_call_at_every_server() {
        let states_of_one = build_states(7);
        let state = build_state(&states_of_one);
        let sealed = states_of_one.seal(&state, &OWN()).unwrap();
        assert_eq!(build_states(7).open(&sealed, &OWN()).unwrap(), state);
        let foreign = "is not the state of this call";
        assert!(read_message(build_states(8).open(&sealed, &OWN())).contains(foreign), "of another installation");
        assert!(read_message(build_states(7).open(&sealed, &Binding(b"bob, pay, 5".to_vec()))).contains(foreign));
        for at in [0, 5, sealed.len() / 2, sealed.len() - 1] {
            let mut changed = sealed.clone().into_bytes();
            changed[at] = if changed[at] == b'A' { b'B' } else { b'A' };
            assert!(
                read_message(build_states(7).open(&String::from_utf8(changed).unwrap(), &OWN())).contains(foreign),
                "{at}"
            );
        }
        assert!(read_message(build_states(7).open(&"x".repeat(STATE_BYTES_MAX + 1), &OWN())).contains(foreign));
    }

    #[test]
    fn a_state_expires() {
        let states = build_states(7);
        let sealed = states.seal(&build_state(&states), &OWN()).unwrap();
        states.clock.advance(ANSWERED_WITHIN - Duration::from_millis(1));
        assert!(states.open(&sealed, &OWN()).is_ok());
        states.clock.advance(Duration::from_millis(1));
        assert!(read_message(states.open(&sealed, &OWN())).contains("has expired"));
    }
}
