//! Checkpoints are written, each with the steps since the one before.

use std::time::Duration;

use registry::SecretValue;
use runner::{Redactor, cut_text};
use serde_json::{Value, json};
use tokio::time::sleep;

use super::human::STEP_TEXT_BYTES_MAX;
use super::observation::ToolObservation;
use super::run_loop::AgentRunLoop;
use crate::domain::agent_runs::{AgentRunState, Checkpoint, NewStep};
use crate::error::Error;
use crate::model::{ModelCall, TranscriptEntry};

/// Bytes of a checkpoint. A longer transcript ends the run, since every step writes it again.
const DOCUMENT_BYTES_MAX: usize = 1 << 20;
/// Bytes of a tool's name in the list of steps. A model may invent names.
const NAME_BYTES_MAX: usize = 128;
/// Bytes of arguments in the list of steps.
const STEP_INPUT_BYTES_MAX: usize = 16_000;
/// Time between two attempts at the same step.
const RELEASE_AFTER: Duration = Duration::from_secs(5);

impl AgentRunLoop {
    /// A call with its result, for the list of steps.
    pub(super) fn build_step(&self, call: &ModelCall, observed: &ToolObservation) -> NewStep {
        let thought = self.checkpoint.transcript.iter().rev().find_map(|entry| match entry {
            TranscriptEntry::Model { text, .. } => Some(text.as_str()),
            _ => None,
        });
        let redactor = self.build_redactor();
        let shown = |text: &str| redactor.text(cut_text(text.to_owned(), STEP_TEXT_BYTES_MAX));
        let input = match call.input.bytes() > STEP_INPUT_BYTES_MAX {
            true => json!(cut_text(call.input.as_str().to_owned(), STEP_INPUT_BYTES_MAX)),
            false => Value::Object(call.members()),
        };
        let step = json!({
            "iteration": self.run.iterations, "thought": thought.map(shown),
            "action": cut_text(call.name.clone(), NAME_BYTES_MAX), "action_input": redactor.value(input),
            "observation": shown(&observed.text), "success": !observed.is_error,
            "invocation_id": observed.invocation.as_ref().map(ToString::to_string),
        });
        NewStep { milestone: None, document: step.to_string() }
    }

    /// An answer without a call, for the list of steps.
    pub(super) fn build_step_without_call(&self, thought: String) -> NewStep {
        let thought = self.build_redactor().text(cut_text(thought, STEP_TEXT_BYTES_MAX));
        let step = json!({"iteration": self.run.iterations, "thought": thought, "action": null, "success": false});
        NewStep { milestone: None, document: step.to_string() }
    }

    /// Redacts texts that are cut already, which bounds the time. The beginning of a secret before a cut is redacted, too.
    fn build_redactor(&self) -> Redactor {
        Redactor::of(self.secrets.iter().map(SecretValue::expose))
    }

    /// Ends the run with a failure.
    pub(super) async fn fail(&mut self, code: &str, message: impl Into<String>) -> Result<bool, Error> {
        self.checkpoint.fail(code, message);
        self.save(Vec::new()).await
    }

    /// Writes a checkpoint. Returns whether this server goes on with the run.
    pub(super) async fn save(&mut self, steps: Vec<NewStep>) -> Result<bool, Error> {
        let mut document = self.checkpoint.written()?;
        if document.len() > DOCUMENT_BYTES_MAX && !self.checkpoint.stage.state().has_ended() {
            self.checkpoint.clear();
            let message = format!("a run has at most {DOCUMENT_BYTES_MAX} bytes of transcript");
            self.checkpoint.fail("transcript_too_long", message);
            document = self.checkpoint.written()?;
        }
        let (state, request) = (self.checkpoint.stage.state(), self.checkpoint.new_request(self.service.clock.now()));
        let checkpoint = Checkpoint { state, iterations: self.run.iterations, document, steps, request };
        let saved = self.service.store.agent_runs().save_agent_run(&self.run, checkpoint).await?;
        let Some(run) = saved else { return Ok(false) };
        self.run = run;
        Ok(self.run.state == AgentRunState::Running)
    }

    /// Gives up the work on the run after a while, for the next attempt. If the database does not answer, the look for runs without
    /// work finds it later.
    pub(super) async fn release(self) {
        tokio::select! {
            () = sleep(RELEASE_AFTER) => {}
            () = self.working.wait_until_over() => {}
        }
        if let Err(error) = self.service.store.agent_runs().release_agent_run(&self.run).await {
            tracing::error!(run = %self.run.id, %error, "a run of an agent is given up later");
        }
    }
}
