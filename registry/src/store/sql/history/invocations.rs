//! Recording runs. The start and the end of a run are inserted once and never changed.

use metrics::counter;

use super::handle::History;
use super::record_rows::{EndRow, RecordRows};
use super::run_start::StartRow;
use super::unlink::Unlinking;
use crate::error::Result;
use crate::history::{FinishedRun, RecordEvent, RefusedRun, Rollback, RunStart};
use crate::kit::ids::OperationId;
use crate::kit::invalid_value::refuse_nul;
use crate::kit::metrics::RECORDS;

impl History {
    /// Adds an event to the record of runs. It is durable and visible when this returns. Returns the number of its runs, for a
    /// rollback that of the runs which still had the ids.
    ///
    /// # Errors
    /// [`Error::AlreadyFinished`](crate::Error::AlreadyFinished) or [`Error::NotFound`](crate::Error::NotFound) name the first end of a run that was refused; the other ends are
    /// recorded all the same.
    pub async fn record(&self, event: &RecordEvent) -> Result<u64> {
        let (label, count) = match event {
            RecordEvent::Started { operation, runs } => {
                runs.iter().try_for_each(refuse_nul_in_ids)?;
                self.store.write_rows(self.start_rows(operation.as_ref(), runs)?).await?;
                ("start", runs.len())
            }
            RecordEvent::Finished(runs) => {
                self.store.write_rows(self.end_rows(runs)?).await?.map_or(Ok(()), Err)?;
                ("end", runs.len())
            }
            RecordEvent::Refused(runs) => {
                runs.iter().try_for_each(|run| refuse_nul_in_ids(&run.start))?;
                self.store.write_rows(self.build_refused_rows(runs)?).await?.map_or(Ok(()), Err)?;
                ("refused", runs.len())
            }
            RecordEvent::Unlinked { organization, by, own, from } => {
                let (id, interaction) = match from {
                    Rollback::Conversation { id, interaction_id } => (id, interaction_id.as_deref()),
                    Rollback::Simulation { run_id } => (run_id, None),
                };
                refuse_nul("the id of a rollback", std::iter::once(id.as_str()).chain(interaction))?;
                let unlinking = Unlinking { organization, by, own: own.as_ref(), at: self.store.0.clock.now() };
                return self.store.write(unlinking.work(from)).await;
            }
        };
        counter!(RECORDS, "event" => label).increment(count as u64);
        Ok(count as u64)
    }

    fn start_rows(&self, operation: Option<&OperationId>, runs: &[RunStart]) -> Result<RecordRows> {
        let of = |index| operation.cloned().map(|operation| (operation, index));
        let rows = (0..).zip(runs).map(|(index, run)| StartRow::of(run, &self.store.0.boot, &of(index)));
        Ok(RecordRows::Started(rows.collect::<Result<_>>()?))
    }

    fn build_refused_rows(&self, runs: &[RefusedRun]) -> Result<RecordRows> {
        let rows = runs.iter().map(|run| {
            let start = StartRow::of(&run.start, &self.store.0.boot, &None)?;
            Ok((start, EndRow::of(&run.end(), self.store.0.retention)?))
        });
        Ok(RecordRows::Refused(rows.collect::<Result<_>>()?))
    }

    fn end_rows(&self, ends: &[FinishedRun]) -> Result<RecordRows> {
        let rows = ends.iter().map(|end| EndRow::of(end, self.store.0.retention));
        Ok(RecordRows::Finished(rows.collect::<Result<_>>()?))
    }
}

fn refuse_nul_in_ids(run: &RunStart) -> Result<()> {
    let source = &run.source;
    let ids = [source.conversation_id(), source.interaction_id(), source.simulation_run_id(), source.user_id()];
    Ok(refuse_nul("the id of a conversation, a simulation or a user", ids.into_iter().flatten())?)
}
