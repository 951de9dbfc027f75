//! A run asks a person, and goes on with the answer, or without.

use std::time::Duration;

use registry::{Digest, HumanRequestId, Timestamp};
use runner::{Interaction, Question, QuestionKind, confirm};
use serde_json::{Map, Value, json};

use super::human::{HumanQuestion, HumanRequestDetails, HumanResponse, answer_form, decline};
use super::pending_calls::PendingCalls;
use super::run_checkpoint::RunCheckpoint;
use super::run_stage::{Asker, OpenQuestion, RunStage};
use crate::domain::agent_runs::{HumanRequestKind, NewHumanRequest, Urgency};
use crate::error::Error;

/// Requests of a run to people. A model that asks again and again would have its way in the end.
const REQUESTS_MAX: u32 = 50;
/// The result of a call about which nobody answered.
pub(super) const UNANSWERED: &str = "nobody answered in time";

/// The forms that a client has filled in.
pub(super) enum FilledIn {
    /// All forms of the question, with the answer for the record.
    All { answered: Box<OpenQuestion>, response: HumanResponse },
    /// Some forms: the texts of the request with those that are left.
    Some(Box<HumanRequestDetails>),
}

impl RunCheckpoint {
    /// The request for the open question, if the run waits for a person.
    pub(super) fn new_request(&self, now: Timestamp) -> Option<NewHumanRequest> {
        let OpenQuestion { request, question, .. } = self.open_question()?;
        Some(NewHumanRequest {
            id: request.clone(),
            kind: question.kind,
            urgency: question.urgency.unwrap_or(Urgency::Medium),
            document: json!(question.build_details()).to_string(),
            expires_at: now.after(Duration::from_secs(self.options.human_timeout_seconds)),
        })
    }

    /// Whether the run goes on without people, by its options or since it has asked too often.
    pub(super) const fn asks_nobody(&self) -> bool {
        self.options.autonomous || self.requests >= REQUESTS_MAX
    }

    /// The questions that the next call may ask, with the answers that it has. `component` is the code that it runs.
    pub(super) fn build_interaction(&self, component: Option<Digest>) -> Interaction {
        let dialogue = self.pending_calls().map(|calls| &calls.dialogue);
        // A call that has begun to ask may end to.
        let asks = !self.asks_nobody() || dialogue.is_some_and(|dialogue| !dialogue.answers.is_empty());
        let kinds = if asks { vec![QuestionKind::Form] } else { Vec::new() };
        let answered = dialogue.map(|dialogue| dialogue.build_interaction(component)).unwrap_or_default();
        Interaction { kinds, ..answered }
    }

    /// Waits for the answer to a question.
    pub(super) fn ask_person(&mut self, request: HumanRequestId, question: HumanQuestion, asker: Asker) {
        self.requests += 1;
        self.stage = RunStage::WaitingForPerson(OpenQuestion { request, question, asker });
    }

    /// Waits for the answers to the questions of the first of these calls, which is made again with them. `component` is the code that
    /// asks.
    pub(super) fn ask_for_call(
        &mut self,
        request: HumanRequestId,
        mut calls: PendingCalls,
        forms: Vec<Question>,
        component: Option<Digest>,
    ) {
        let dialogue = &mut calls.dialogue;
        dialogue.begin_round(component);
        let answers_before = dialogue.answers.len();
        let asked = HumanQuestion { answers_before, ..HumanQuestion::of_tool(&calls.call.name, forms) };
        let changes =
            dialogue.confirmed.as_ref().zip(asked.confirms()).and_then(|(before, now)| now.changes_since(before));
        let asked = match changes {
            Some(changes) => asked.with_changes(changes),
            None => asked,
        };
        self.ask_person(request, asked, Asker::Call(Box::new(calls)));
    }

    /// Goes on with the answer of a person. Returns the question that was answered.
    ///
    /// # Errors
    /// When it does not answer the question, or has what nobody would read. Then nothing changes.
    pub(super) fn respond(&mut self, response: &HumanResponse) -> Result<OpenQuestion, Error> {
        let open = self.open_question().cloned().ok_or(Error::AgentRunNotPaused)?;
        let question = &open.question;
        response.require_fit(question)?;
        match open.asker.clone() {
            Asker::StuckRun { not_made } => self.push_user_message(response.describe(), not_made),
            Asker::Call(calls) => self.respond_to_call(*calls, question, response)?,
        }
        Ok(open)
    }

    fn respond_to_call(
        &mut self,
        mut calls: PendingCalls,
        question: &HumanQuestion,
        response: &HumanResponse,
    ) -> Result<(), Error> {
        let (is_agreed, dialogue) = (response.approved != Some(false), &mut calls.dialogue);
        match question.kind {
            HumanRequestKind::Question => {
                self.observe(calls, response.describe(), false);
                return Ok(());
            }
            HumanRequestKind::Approval if is_agreed => {
                dialogue.answers.extend(question.forms.iter().map(confirm));
                dialogue.confirmed = question.confirms().cloned();
            }
            // The refused call has a record, which the client reads.
            HumanRequestKind::Approval if self.single_call.is_some() => {
                dialogue.answers.extend(question.forms.iter().map(decline));
            }
            HumanRequestKind::Approval => {
                self.observe(calls, response.describe(), true);
                return Ok(());
            }
            HumanRequestKind::Form => {
                let answers = question.forms.iter().map(|form| response.answer(form)).collect::<Result<_, _>>()?;
                dialogue.add_answers(answers)?;
            }
        }
        self.stage = RunStage::before(calls);
        Ok(())
    }

    /// Adds results for some of the forms of a call, by their keys.
    ///
    /// # Errors
    /// When no call waits, or a result does not fit its form. Then nothing changes.
    pub(super) fn fill_in(&mut self, results: &Map<String, Value>) -> Result<FilledIn, Error> {
        let mut open = self.open_question().cloned().ok_or(Error::HumanRequestClosed)?;
        let Asker::Call(calls) = &mut open.asker else { return Err(Error::HumanRequestClosed) };
        let (question, dialogue) = (&mut open.question, &mut calls.dialogue);
        let forms = std::mem::take(&mut question.forms);
        let (given, left) = forms.into_iter().partition::<Vec<_>, _>(|form| results.contains_key(&form.key));
        let answers = given.iter().map(|form| answer_form(form, &results[&form.key]));
        dialogue.add_answers(answers.collect::<Result<_, _>>()?)?;
        dialogue.confirmed = given.iter().find_map(|form| form.confirms.clone()).or(dialogue.confirmed.take());
        if left.is_empty() {
            let answers = dialogue.answers.get(question.answers_before..).unwrap_or_default();
            let response = HumanResponse::of_results(question.kind, answers);
            question.forms = given;
            self.stage = RunStage::before((**calls).clone());
            return Ok(FilledIn::All { answered: Box::new(open), response });
        }
        question.forms = left;
        let details = question.build_details();
        self.stage = RunStage::WaitingForPerson(open);
        Ok(FilledIn::Some(Box::new(details)))
    }

    /// Goes on without the answer to a question. A run that is stuck cannot, nor can a run of one call.
    pub(super) fn end_unanswered(&mut self, open: OpenQuestion) {
        match open.asker {
            Asker::StuckRun { .. } => self.fail("stuck", UNANSWERED),
            Asker::Call(_) if self.single_call.is_some() => self.fail("unanswered", UNANSWERED),
            Asker::Call(calls) => self.observe(*calls, UNANSWERED.to_owned(), true),
        }
    }
}
