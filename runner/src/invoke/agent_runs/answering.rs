//! A run asks a person, and goes on with the answer, or without.

use std::time::Duration;

use registry::{HumanRequestId, HumanRequestKind, NewHumanRequest, Timestamp, Urgency};
use serde_json::json;

use super::human::{HumanQuestion, HumanResponse, refuse};
use super::progress::Progress;
use crate::error::Error;
use crate::interaction::{ANSWER_BYTES_MAX, Interaction, Question, QuestionKind};
use crate::invoke::intervene::confirmation;

/// The result of a call about which nobody answered.
const UNANSWERED: &str = "nobody answered in time";

impl Progress {
    /// The request for the question of a run that pauses.
    pub(super) fn request(&mut self, id: HumanRequestId, now: Timestamp) -> Option<NewHumanRequest> {
        let question = self.question.as_ref()?;
        let request = NewHumanRequest {
            id: id.clone(),
            kind: question.kind,
            urgency: question.urgency.unwrap_or(Urgency::Medium),
            document: json!(question.details()).to_string(),
            expires_at: now.after(Duration::from_secs(self.human_timeout_seconds)),
        };
        self.human_request = Some(id);
        Some(request)
    }

    /// The questions that the next call may ask, with the answers that it has.
    pub(super) fn interaction(&self) -> Interaction {
        let kinds = if self.autonomous { Vec::new() } else { vec![QuestionKind::Form] };
        Interaction { kinds, answers: self.answers.clone(), round: self.round }
    }

    /// Notes the questions of a call. It is made again with their answers.
    pub(super) fn ask_for_call(&mut self, tool: &str, forms: Vec<Question>) {
        (self.has_begun, self.round) = (false, self.round + 1);
        self.question = Some(HumanQuestion::of_tool(tool, forms));
    }

    /// Adds the answer of a person.
    ///
    /// # Errors
    /// When it does not answer the question. Then nothing changes.
    pub(super) fn respond(&mut self, response: &HumanResponse) -> Result<(), Error> {
        let question = self.question.clone().ok_or(Error::AgentRunNotPaused)?;
        match question.kind {
            HumanRequestKind::Question if response.human_input.is_none() && response.approved.is_none() => {
                return Err(refuse("a question needs `human_input` or `approved`"));
            }
            HumanRequestKind::Question if question.is_of_call => self.observe(response.observation(), false),
            HumanRequestKind::Question => self.push_user_message(response.observation()),
            HumanRequestKind::Approval => match response.approved {
                None => return Err(refuse("an approval needs `approved`")),
                Some(true) => self.answers.extend(question.forms.iter().map(confirmation)),
                Some(false) => self.observe(response.observation(), true),
            },
            HumanRequestKind::Form => {
                let answers: Vec<_> =
                    question.forms.iter().map(|form| response.answer(form)).collect::<Result<_, _>>()?;
                let bytes: usize = self.answers.iter().chain(&answers).map(|answer| answer.result.len()).sum();
                if bytes > ANSWER_BYTES_MAX {
                    return Err(refuse(format!("the answers of a call have at most {ANSWER_BYTES_MAX} bytes")));
                }
                self.answers.extend(answers);
            }
        }
        (self.question, self.human_request) = (None, None);
        Ok(())
    }

    /// Goes on without an answer. Returns `false` when the run cannot.
    pub(super) fn go_on_unanswered(&mut self) -> bool {
        let Some(question) = self.question.take() else { return true };
        self.human_request = None;
        if question.is_of_call {
            self.observe(UNANSWERED.to_owned(), true);
        } else {
            self.fail("stuck", UNANSWERED);
        }
        question.is_of_call
    }
}
