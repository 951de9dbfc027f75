//! Questions of a running tool to the person or the client behind its call.
//!
//! A guest keeps no state. So a question without an answer ends the attempt, and a later attempt of the same call runs from its
//! start with the answers: its questions then return at once.

mod answer;
mod confirmed_call;
mod form;
mod question;
mod refusal;

pub use answer::{Answer, is_result};
pub use confirmed_call::ConfirmedCall;
pub use question::{Question, QuestionKind, QuestionSet};
pub use refusal::{InputErrorCode, InputRefused};

use registry::Outcome;
use serde::{Deserialize, Serialize};

/// Bytes of all answers of a call. The client sends them back with each answer.
pub const ANSWER_BYTES_MAX: usize = 128 << 10;
/// Attempts of a call that end with a question. Clients end a call after about as many.
pub const ROUNDS_MAX: u32 = 8;

/// Questions that a call may ask, and the answers that it has.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Interaction {
    /// Questions that the client behind the call can answer. Without a client, there are none.
    pub kinds: Vec<QuestionKind>,
    pub answers: Vec<Answer>,
    /// Earlier attempts of the call, each of which ended with a question.
    pub round: u32,
}

/// Questions of a run without an answer.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Asked {
    /// Questions without an answer, which ended the run.
    pub questions: Vec<Question>,
    /// Questions that the client behind the call cannot answer.
    pub unavailable: Vec<QuestionKind>,
}

/// The answer of the host to questions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Reply {
    /// The results in the order of the questions, as JSON.
    Answered(Vec<String>),
    Refused(InputRefused),
    /// Some question has no answer, which ends the run.
    Open,
}

/// The names of the error in the packages for tools. A tool that does not catch it fails with one of these types.
const UNAVAILABLE_ERRORS: [&str; 2] = ["InputUnavailable", "InputError"];
/// The type of the failure of a run that a question ended.
pub const INPUT_REQUIRED: &str = "input_required";

/// Ends a run whose question has no answer.
#[derive(Debug, thiserror::Error)]
#[error("the tool asked a question, and runs again with its answer")]
pub(crate) struct InputRequired;

impl Interaction {
    /// Whether the client can answer questions of a kind, and the call may ask once more.
    #[must_use]
    pub fn can_ask(&self, kind: QuestionKind) -> bool {
        self.kinds.contains(&kind) && self.round < ROUNDS_MAX
    }

    /// Replies to the questions of a run, and notes what the run wanted to know.
    pub(crate) fn reply(&self, requests: Vec<(String, String)>, asked: &mut Asked) -> Reply {
        let questions = match QuestionSet::parse(requests) {
            Ok(QuestionSet(questions)) => questions,
            Err(refused) => return Reply::Refused(refused),
        };
        let missing: Vec<_> = questions.iter().map(|one| one.kind).filter(|kind| !self.kinds.contains(kind)).collect();
        if let Some(kind) = missing.first() {
            let message = format!("nobody can answer: {}", kind.missing());
            asked.unavailable.extend(missing);
            asked.unavailable.sort_unstable();
            asked.unavailable.dedup();
            return Reply::Refused(InputRefused::new(InputErrorCode::Unavailable, message));
        }
        let answers: Vec<_> = questions.iter().map(|question| self.answer(question).map(str::to_owned)).collect();
        if answers.iter().all(Option::is_some) {
            return Reply::Answered(answers.into_iter().flatten().collect());
        }
        if self.round >= ROUNDS_MAX {
            let message = format!("a call asks at most {ROUNDS_MAX} times");
            return Reply::Refused(InputRefused::new(InputErrorCode::TooMany, message));
        }
        let open = questions.into_iter().zip(answers).filter(|(_, answer)| answer.is_none());
        asked.questions = open.map(|(question, _)| question).collect();
        Reply::Open
    }

    /// The result of a question that was answered.
    #[must_use]
    pub fn answer(&self, question: &Question) -> Option<&str> {
        self.answers.iter().find(|answer| answer.is_of(question)).map(|answer| answer.result.as_str())
    }
}

impl Asked {
    /// The abilities without which the run failed: its client does not have them, and the tool did not continue without.
    #[must_use]
    pub fn lacked(&self, outcome: &Outcome) -> &[QuestionKind] {
        match outcome {
            Outcome::Failed { exception_type, .. } if UNAVAILABLE_ERRORS.contains(&exception_type.as_str()) => {
                &self.unavailable
            }
            _ => &[],
        }
    }

    /// Whether the questions keep their bounds.
    pub(crate) fn is_within_bounds(&self) -> bool {
        let requests = self.questions.iter().map(|question| (question.key.clone(), question.body.clone()));
        let kinds = self.unavailable.len() <= QuestionKind::ALL.len();
        kinds && (self.questions.is_empty() || QuestionSet::parse(requests.collect()).is_ok())
    }
}

#[cfg(test)]
mod tests {
    use super::question::QUESTIONS_MAX;
    use super::*;

    const FORM: &str = r#"{"method":"elicitation/create","params":{"message":"Name?","requestedSchema":{"type":"object","properties":{}}}}"#;
    const ROOTS: &str = r#"{"method":"roots/list","params":{}}"#;

    fn ask(interaction: &Interaction, requests: &[(&str, &str)]) -> (Reply, Asked) {
        let mut asked = Asked::default();
        let requests = requests.iter().map(|(key, body)| ((*key).to_owned(), (*body).to_owned()));
        let reply = interaction.reply(requests.collect(), &mut asked);
        (reply, asked)
    }

    fn code(reply: &Reply) -> Option<InputErrorCode> {
        match reply {
            Reply::Refused(refused) => Some(refused.code),
            _ => None,
        }
    }

    #[test]
    fn a_question_without_an_answer_is_open_until_it_is_answered() {
        let mut interaction = Interaction { kinds: vec![QuestionKind::Form], ..Interaction::default() };
        let (reply, asked) = ask(&interaction, &[("name", FORM)]);
        assert_eq!((reply, asked.questions.len()), (Reply::Open, 1));
        interaction.answers.push(Answer::to(&asked.questions[0], r#"{"action":"decline"}"#.to_owned()));
        assert_eq!(ask(&interaction, &[("name", FORM)]).0, Reply::Answered(vec![r#"{"action":"decline"}"#.into()]));
        let other = FORM.replace("Name", "Age");
        assert_eq!(ask(&interaction, &[("name", &other)]).0, Reply::Open, "another question under the same key");
        let (reply, asked) = ask(&interaction, &[("name", FORM), ("again", FORM)]);
        assert_eq!((reply, asked.questions[0].key.as_str()), (Reply::Open, "again"), "only what is missing");
    }

    #[test]
    fn a_client_without_the_ability_is_not_asked() {
        let interaction = Interaction { kinds: vec![QuestionKind::Form], ..Interaction::default() };
        let (reply, asked) = ask(&interaction, &[("name", FORM), ("roots", ROOTS)]);
        assert_eq!(code(&reply), Some(InputErrorCode::Unavailable));
        assert_eq!(asked, Asked { questions: Vec::new(), unavailable: vec![QuestionKind::Roots] });
        assert_eq!(code(&ask(&Interaction::default(), &[("name", FORM)]).0), Some(InputErrorCode::Unavailable));
    }

    #[test]
    fn rounds_and_questions_are_bounded() {
        let interaction = Interaction { kinds: vec![QuestionKind::Roots], round: ROUNDS_MAX, ..Interaction::default() };
        assert_eq!(code(&ask(&interaction, &[("roots", ROOTS)]).0), Some(InputErrorCode::TooMany));
        assert!(!interaction.can_ask(QuestionKind::Roots));
        let keys: Vec<_> = (0..=QUESTIONS_MAX).map(|number| format!("q{number}")).collect();
        let many: Vec<_> = keys.iter().map(|key| (key.as_str(), ROOTS)).collect();
        assert_eq!(code(&ask(&interaction, &many).0), Some(InputErrorCode::TooMany));
    }
}
