//! The questions of one call and their answers, over its attempts.

use std::collections::BTreeMap;

use registry::{RunId, Store};
use rmcp::ErrorData;
use rmcp::model::{InputRequest, InputRequests, InputRequiredResult};
use runner::{ANSWER_BYTES_MAX, Answer, Interaction, Question, QuestionKind, is_result};
use serde_json::{Value, json};

use super::listing::build_meta;
use super::request_state::{BoundCall, OpenQuestion, RequestState, RequestStates};
use super::result::INVOCATION;

/// The state and the answers in a client's request.
#[derive(Default)]
pub struct Returned {
    pub state: Option<String>,
    pub responses: Option<BTreeMap<String, Value>>,
}

/// Continues calls with the answers of their clients.
#[derive(Clone)]
pub struct Dialogues {
    store: Store,
    states: RequestStates,
}

/// An attempt that ended with questions.
pub struct Open {
    pub attempt: RunId,
    pub questions: Vec<Question>,
    pub requests: InputRequests,
}

impl Open {
    /// # Errors
    /// When the tool wrote a request that the protocol does not have, such as a form with nested objects.
    pub fn new(attempt: RunId, questions: Vec<Question>) -> Result<Self, String> {
        let requests = questions.iter().map(|question| Ok((question.key.clone(), render_question(question)?)));
        let requests = requests.collect::<Result<_, String>>()?;
        Ok(Self { attempt, questions, requests })
    }
}

impl Dialogues {
    pub fn new(store: &Store) -> Self {
        Self { store: store.clone(), states: RequestStates::new(store) }
    }

    /// Begins an attempt: the first one of a call, or one with answers.
    ///
    /// # Errors
    /// When the state is not of this call, has expired or was used before, or when an answer has the wrong form.
    pub async fn begin(
        &self,
        kinds: Vec<QuestionKind>,
        returned: Returned,
        call: &BoundCall<'_>,
    ) -> Result<Interaction, ErrorData> {
        let Returned { state, responses } = returned;
        let responses = responses.unwrap_or_default();
        let Some(sealed) = state else {
            return Ok(Interaction { kinds, answers: read_early_answers(responses)?, round: 0 });
        };
        let RequestState { attempt, expires_at, round, mut answers, asked } =
            self.states.open(&sealed, &call.digest_binding())?;
        answers.extend(read_answers(asked, responses)?);
        check_bounds(&answers)?;
        let is_first = self.store.operations().answer_attempt(&attempt, expires_at).await.map_err(|error| {
            tracing::error!(%error, "an answer of an MCP client cannot be kept");
            ErrorData::internal_error("The server failed.", None)
        })?;
        if !is_first {
            let used = "requestState was used before: call the tool again without it";
            return Err(ErrorData::invalid_params(used, None));
        }
        Ok(Interaction { kinds, answers, round })
    }

    /// Renders the questions of an attempt for a client that calls again.
    pub fn ask(
        &self,
        interaction: Interaction,
        open: Open,
        call: &BoundCall<'_>,
    ) -> Result<InputRequiredResult, ErrorData> {
        let Open { attempt, questions, requests } = open;
        let fields = [(INVOCATION, json!(attempt))];
        let state = RequestState {
            attempt,
            expires_at: self.states.compute_expiry(),
            round: interaction.round + 1,
            answers: interaction.answers,
            asked: questions.iter().map(OpenQuestion::of).collect(),
        };
        let sealed = self.states.seal(&state, &call.digest_binding())?;
        Ok(InputRequiredResult::new(Some(requests), Some(sealed)).with_meta(build_meta(&fields)))
    }
}

/// Answers that a client sent before it was asked. They count for questions of the tool with the same keys.
fn read_early_answers(responses: BTreeMap<String, Value>) -> Result<Vec<Answer>, ErrorData> {
    let answer = |(key, result): (String, Value)| match result.is_object() {
        true => Ok(Answer { key, question: None, result: result.to_string() }),
        false => Err(refuse_form(&key)),
    };
    let answers = responses.into_iter().map(answer).collect::<Result<Vec<_>, _>>()?;
    check_bounds(&answers)?;
    Ok(answers)
}

/// The answers to questions that were asked. Other keys are ignored, and questions without an answer are asked again.
fn read_answers(asked: Vec<OpenQuestion>, mut responses: BTreeMap<String, Value>) -> Result<Vec<Answer>, ErrorData> {
    let mut answers = Vec::new();
    for OpenQuestion { key, kind, digest } in asked {
        match responses.remove(&key) {
            Some(result) if is_result(kind, &result) => {
                answers.push(Answer { key, question: Some(digest), result: result.to_string() });
            }
            Some(_) => return Err(refuse_form(&key)),
            None => {}
        }
    }
    Ok(answers)
}

fn refuse_form(key: &str) -> ErrorData {
    ErrorData::invalid_params(format!("inputResponses/{key}: should be the result of the request"), None)
}

/// Refuses answers that together are too large.
pub fn check_bounds(answers: &[Answer]) -> Result<(), ErrorData> {
    let bytes: usize = answers.iter().map(|answer| answer.key.len() + answer.result.len()).sum();
    if bytes <= ANSWER_BYTES_MAX {
        return Ok(());
    }
    let message = format!("the answers of a call have at most {ANSWER_BYTES_MAX} bytes");
    Err(ErrorData::invalid_params(message, None))
}

/// The request of a question, in the form of the protocol.
pub fn render_question(question: &Question) -> Result<InputRequest, String> {
    let refuse = |error| format!("input_invalid: the question {} is no request of the protocol: {error}", question.key);
    serde_json::from_str(&question.body).map_err(refuse)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open(key: &str) -> OpenQuestion {
        OpenQuestion { key: key.to_owned(), kind: QuestionKind::Form, digest: registry::Digest::of(key.as_bytes()) }
    }

    fn responses(value: Value) -> BTreeMap<String, Value> {
        serde_json::from_value(value).unwrap()
    }

    #[test]
    fn only_asked_questions_are_answered() {
        let sent = responses(json!({"name": {"action": "decline"}, "more": {"action": "cancel"}}));
        let answers = read_answers(vec![open("name"), open("age")], sent).unwrap();
        assert_eq!(answers.len(), 1, "{answers:?}");
        assert_eq!((answers[0].key.as_str(), answers[0].question), ("name", Some(open("name").digest)));
        let wrong = read_answers(vec![open("name")], responses(json!({"name": {"action": "accept"}}))).unwrap_err();
        assert_eq!(wrong.code.0, -32602);
    }

    #[test]
    fn early_answers_are_objects_within_their_bound() {
        assert_eq!(read_early_answers(responses(json!({"name": 12345}))).unwrap_err().code.0, -32602);
        let large = json!({"name": {"action": "accept", "content": {"text": "x".repeat(ANSWER_BYTES_MAX)}}});
        assert_eq!(read_early_answers(responses(large)).unwrap_err().code.0, -32602);
        assert_eq!(read_early_answers(responses(json!({"name": {"action": "decline"}}))).unwrap()[0].question, None);
    }
}
