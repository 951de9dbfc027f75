//! The calls of an answer of a model that have no observation yet.

use registry::Digest;
use runner::{ANSWER_BYTES_MAX, Answer, CONFIRMATION, ConfirmedCall, Interaction};
use serde::{Deserialize, Serialize};

use super::human::refuse;
use crate::error::Error;
use crate::model::ModelCall;

/// Calls that are made one after the other.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct PendingCalls {
    /// The call that is made first.
    pub call: ModelCall,
    pub dialogue: CallDialogue,
    /// The calls after it.
    pub rest: Vec<ModelCall>,
}

/// What people have answered to the questions of a call.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct CallDialogue {
    pub answers: Vec<Answer>,
    /// The code that asked for these answers.
    asked_by: Option<Digest>,
    /// The call that a person has permitted last.
    pub confirmed: Option<ConfirmedCall>,
    /// The number of times that the call has asked a person.
    round: u32,
}

impl PendingCalls {
    /// `None` without a call.
    pub fn of(mut calls: Vec<ModelCall>) -> Option<Self> {
        if calls.is_empty() {
            return None;
        }
        let call = calls.remove(0);
        Some(Self { call, dialogue: CallDialogue::default(), rest: calls })
    }
}

impl CallDialogue {
    /// Answers that a call has before it begins, to questions of this code.
    pub fn of(interaction: Interaction, component: Option<Digest>) -> Self {
        let Interaction { answers, round, .. } = interaction;
        Self { answers, asked_by: component, confirmed: None, round }
    }

    /// Begins another round, in which this code asks. Answers to other code are dropped.
    pub fn begin_round(&mut self, component: Option<Digest>) {
        self.round += 1;
        if component != self.asked_by {
            self.answers.clear();
            self.asked_by = component;
        }
    }

    /// The answers that the call gets. `component` is the code that it runs: answers to questions of other code are not its answers.
    pub fn build_interaction(&self, component: Option<Digest>) -> Interaction {
        // The confirmation stays, so that the person is told what has changed.
        let is_own = |answer: &&Answer| component == self.asked_by || answer.key == CONFIRMATION;
        let answers = self.answers.iter().filter(is_own).cloned().collect();
        Interaction { answers, round: self.round, ..Interaction::default() }
    }

    /// # Errors
    /// When the call would have too many bytes of answers. Then nothing changes.
    pub fn add_answers(&mut self, answers: Vec<Answer>) -> Result<(), Error> {
        let bytes: usize = self.answers.iter().chain(&answers).map(|answer| answer.result.len()).sum();
        if bytes > ANSWER_BYTES_MAX {
            return Err(refuse(format!("the answers of a call have at most {ANSWER_BYTES_MAX} bytes")));
        }
        self.answers.extend(answers);
        Ok(())
    }
}
