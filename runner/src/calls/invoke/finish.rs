//! The steps of one input after its start is recorded: execution, shape, verdict, and the record of its end.

use std::sync::Arc;

use parking_lot::Mutex;
use registry::Ledger;
use serde_json::Value;

use super::execute::{ExecutedRun, build_host_fault};
use super::record::RecordParts;
use super::run::{PendingRun, Run};
use super::shape::Shaped;
use super::tape::TapeStore;
use super::verdict::give_verdict;
use crate::calls::call::RunResult;
use crate::calls::redact::RedactedEnd;
use crate::error::Error;
use crate::metrics;
use crate::sandbox::executed::Executed;

impl Run<'_> {
    pub async fn execute_and_record(&self, pending: PendingRun) -> Result<RunResult, Error> {
        let id = pending.id.clone();
        let output_schema = self.target.find_output_schema(&pending.documents.tool_input);
        let status_events = Arc::<Mutex<Vec<Value>>>::default();
        let finished = self.execute(pending, status_events.clone()).await.unwrap_or_else(|error| {
            tracing::error!(invocation = %id, %error, "a run failed because of a fault of the host");
            ExecutedRun::without_execution(build_host_fault(&error))
        });
        let ExecutedRun { executed, redactors, frame, responses } = finished;
        metrics::count_executed(executed.duration, executed.ledger.cost.cpu_ms, self.target.language());
        let duration_ms = u64::try_from(executed.duration.as_millis()).unwrap_or(u64::MAX);
        let Executed { outcome, is_called, logs, content, ledger, tape, mut asked, .. } = executed;
        let tape = match frame {
            Some(frame) => {
                let (recordings, organization) = (&self.services.recordings, &self.call.caller.principal.organization);
                TapeStore { recordings, organization, run: &id }.seal(tape, frame).await
            }
            None => None,
        };
        let answers = self.seal_responses(responses).await;
        let mut ledger = Ledger { granted: self.target.granted(), ..ledger };
        if is_called {
            ledger.hand_over();
        }
        let Shaped { outcome, persisted } = self.shape(outcome, output_schema).await;
        let trust = give_verdict(self.target.trust_class());
        metrics::count_ended(&outcome, self.target.language());
        let status_events = std::mem::take(&mut *status_events.lock());
        asked.questions.iter_mut().for_each(|question| redactors.answered.question(&mut question.body));
        let redacted = redactors.redact_end(outcome, logs, content).await?;
        let RedactedEnd { stored, answered, logs, stored_content, answered_content } = redacted;
        let (outcome, content) = (answered, answered_content);
        let (version, total) = (self.target.version(), ledger.total());
        let result =
            RunResult { invocation_id: id, outcome, duration_ms, persisted, trust, content, version, total, asked };
        let parts = RecordParts { status_events, logs, content: stored_content, ledger, tape, answers };
        self.record_end(&result, stored, parts).await?;
        Ok(result)
    }
}
