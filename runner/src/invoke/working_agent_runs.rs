//! The runs of agents on which this server works.

use std::sync::Arc;

use dashmap::DashMap;
use registry::AgentRunId;
use tokio_util::sync::CancellationToken;

use crate::admission::{Admission, Bounds};

/// Runs on which a server works at the same time. Most wait for a model.
const PARALLEL_MAX: usize = 64;

/// The runs of agents on which this server works. Clones share them.
#[derive(Clone)]
pub(super) struct WorkingRuns {
    pub admission: Arc<Admission>,
    /// Ends the work on all runs. Another server goes on with them.
    pub stopping: CancellationToken,
    runs: Arc<DashMap<AgentRunId, CancellationToken>>,
}

/// The work on a run, which can be cancelled while this exists.
pub(super) struct Working {
    runs: Arc<DashMap<AgentRunId, CancellationToken>>,
    run: AgentRunId,
    /// Ends a call of a tool, too.
    pub cancelled: CancellationToken,
    /// Ends the work after a call of a tool.
    pub stopping: CancellationToken,
}

impl Default for WorkingRuns {
    fn default() -> Self {
        let admission = Admission::new("agent runs", Bounds::shared(PARALLEL_MAX, 0));
        Self { admission: Arc::new(admission), stopping: CancellationToken::new(), runs: Arc::default() }
    }
}

impl WorkingRuns {
    pub fn begin(&self, run: &AgentRunId) -> Working {
        let (cancelled, stopping) = (CancellationToken::new(), self.stopping.clone());
        self.runs.insert(run.clone(), cancelled.clone());
        Working { runs: self.runs.clone(), run: run.clone(), cancelled, stopping }
    }

    /// Ends the work on a run that was cancelled. A run on which another server works ends with its next checkpoint.
    pub fn cancel(&self, run: &AgentRunId) {
        if let Some(cancelled) = self.runs.get(run) {
            cancelled.cancel();
        }
    }
}

impl Working {
    /// Whether this server shall not take another step.
    pub fn is_over(&self) -> bool {
        self.cancelled.is_cancelled() || self.stopping.is_cancelled()
    }

    /// Completes when [`Working::is_over`].
    pub async fn over(&self) {
        tokio::select! {
            () = self.cancelled.cancelled() => {}
            () = self.stopping.cancelled() => {}
        }
    }
}

impl Drop for Working {
    fn drop(&mut self) {
        self.runs.remove(&self.run);
    }
}
