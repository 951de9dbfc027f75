//! A run asks a person, and goes on with the answer, or without.

use std::time::Duration;

use registry::{AgentRunState, Digest, HumanRequestId, HumanRequestKind, NewHumanRequest, Timestamp, Urgency};
use runner::{ANSWER_BYTES_MAX, Answer, CONFIRMATION, Interaction, Question, QuestionKind, confirm};
use serde_json::{Map, Value, json};

use super::human::{HumanQuestion, HumanRequestDetails, HumanResponse, decline, fitting, refuse};
use super::progress::Progress;
use crate::error::Error;

/// Requests of a run to people. A model that asks again and again would have its way in the end.
const REQUESTS_MAX: u32 = 50;
/// The result of a call about which nobody answered.
pub(super) const UNANSWERED: &str = "nobody answered in time";

/// The forms that a client has filled in.
pub(super) enum FilledIn {
    /// All forms: the answer for the record.
    All(HumanResponse),
    /// Some forms: the texts of the request with those that are left.
    Some(Box<HumanRequestDetails>),
}

impl Progress {
    /// The request for the question of a run that pauses.
    pub(super) fn request(&mut self, id: HumanRequestId, now: Timestamp) -> Option<NewHumanRequest> {
        let question = self.question.as_ref()?;
        let request = NewHumanRequest {
            id: id.clone(),
            kind: question.kind,
            urgency: question.urgency.unwrap_or(Urgency::Medium),
            document: json!(question.details()).to_string(),
            expires_at: now.after(Duration::from_secs(self.options.human_timeout_seconds)),
        };
        self.human_request = Some(id);
        self.requests += 1;
        Some(request)
    }

    /// Whether the run goes on without people, by its options or since it has asked too often.
    pub(super) const fn asks_nobody(&self) -> bool {
        self.options.autonomous || self.requests >= REQUESTS_MAX
    }

    /// The questions that the next call may ask, with the answers that it has. `component` is the code that it runs: answers to
    /// questions of other code are not its answers.
    pub(super) fn interaction(&self, component: Option<Digest>) -> Interaction {
        // A call that has begun to ask may end to.
        let asks = !self.asks_nobody() || !self.answers.is_empty();
        let kinds = if asks { vec![QuestionKind::Form] } else { Vec::new() };
        // The confirmation stays, so that the person is told what has changed.
        let is_own = |answer: &&Answer| component == self.answers_of || answer.key == CONFIRMATION;
        Interaction { kinds, answers: self.answers.iter().filter(is_own).cloned().collect(), round: self.round }
    }

    /// Takes over answers that a call has before it begins, to questions of this code.
    pub(super) fn with_answers(mut self, interaction: Interaction, component: Option<Digest>) -> Self {
        (self.answers, self.round, self.answers_of) = (interaction.answers, interaction.round, component);
        self
    }

    /// Notes the questions of a call. It is made again with their answers.
    pub(super) fn ask_for_call(&mut self, tool: &str, forms: Vec<Question>, component: Option<Digest>) {
        (self.has_begun, self.round) = (false, self.round + 1);
        if component != self.answers_of {
            self.answers.clear();
            self.answers_of = component;
        }
        let asked = HumanQuestion { answers_before: self.answers.len(), ..HumanQuestion::of_tool(tool, forms) };
        let changes = self.confirmed.as_ref().zip(asked.confirms()).and_then(|(before, now)| now.changes_since(before));
        self.question = Some(match changes {
            Some(changes) => asked.with_changes(changes),
            None => asked,
        });
    }

    /// Adds the answer of a person.
    ///
    /// # Errors
    /// When it does not answer the question, or has what nobody would read. Then nothing changes.
    pub(super) fn respond(&mut self, response: &HumanResponse) -> Result<(), Error> {
        let question = self.question.clone().ok_or(Error::AgentRunNotPaused)?;
        response.require_fit(&question)?;
        let is_agreed = response.approved != Some(false);
        match question.kind {
            HumanRequestKind::Question if question.is_of_call => self.observe(response.observation(), false),
            HumanRequestKind::Question => self.push_user_message(response.observation()),
            HumanRequestKind::Approval if is_agreed => {
                self.answers.extend(question.forms.iter().map(confirm));
                self.confirmed = question.confirms().cloned();
            }
            // The refused call has a record, which the client reads.
            HumanRequestKind::Approval if self.single_call.is_some() => {
                self.answers.extend(question.forms.iter().map(decline));
            }
            HumanRequestKind::Approval => self.observe(response.observation(), true),
            HumanRequestKind::Form => {
                let answers = question.forms.iter().map(|form| response.answer(form)).collect::<Result<_, _>>()?;
                self.add_answers(answers)?;
            }
        }
        (self.question, self.human_request) = (None, None);
        Ok(())
    }

    /// Adds results for some of the forms of a call, by their keys.
    ///
    /// # Errors
    /// When a result does not fit its form. Then nothing changes.
    pub(super) fn fill_in(&mut self, results: &Map<String, Value>) -> Result<FilledIn, Error> {
        let mut question = self.question.clone().ok_or(Error::AgentRunNotPaused)?;
        let (given, left) = question.forms.into_iter().partition::<Vec<_>, _>(|form| results.contains_key(&form.key));
        let answers = given.iter().map(|form| fitting(form, &results[&form.key]));
        self.add_answers(answers.collect::<Result<_, _>>()?)?;
        self.confirmed = given.iter().find_map(|form| form.confirms.clone()).or(self.confirmed.take());
        question.forms = left;
        if question.forms.is_empty() {
            (self.question, self.human_request) = (None, None);
            let given = self.answers.get(question.answers_before..).unwrap_or_default();
            return Ok(FilledIn::All(HumanResponse::of_results(question.kind, given)));
        }
        let details = question.details();
        self.question = Some(question);
        Ok(FilledIn::Some(Box::new(details)))
    }

    fn add_answers(&mut self, answers: Vec<Answer>) -> Result<(), Error> {
        let bytes: usize = self.answers.iter().chain(&answers).map(|answer| answer.result.len()).sum();
        if bytes > ANSWER_BYTES_MAX {
            return Err(refuse(format!("the answers of a call have at most {ANSWER_BYTES_MAX} bytes")));
        }
        self.answers.extend(answers);
        Ok(())
    }

    /// Notes that nobody has answered. Returns the next state of the run.
    pub(super) fn end_unanswered(&mut self, question: &HumanQuestion) -> AgentRunState {
        (self.question, self.human_request) = (None, None);
        if question.is_of_call {
            self.observe(UNANSWERED.to_owned(), true);
            return AgentRunState::Running;
        }
        self.fail("stuck", UNANSWERED);
        AgentRunState::Failed
    }
}
