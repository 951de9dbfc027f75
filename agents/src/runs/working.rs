//! The runs of agents on which this server works.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use dashmap::DashMap;
use registry::{Admission, AdmissionBounds, AgentRunId, OrganizationId};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::schema_texts::SchemaTexts;
use crate::domain::agent_runs::{AgentRun, AgentRunCapacity};

/// Runs on which a server works at the same time for its clients. Most wait for a model.
const PARALLEL_MAX: usize = 64;
/// Their bounds. A run that finds no place is refused.
pub const AGENT_RUNS: AdmissionBounds = AdmissionBounds::shared(PARALLEL_MAX, 0);
/// Runs of one organisation, beyond which a server takes no others over for it.
const TAKEN_OVER_MAX: usize = 16;

/// The runs of agents on which this server works. Clones share them.
#[derive(Clone)]
pub(super) struct WorkingRuns {
    pub admission: Arc<Admission>,
    /// Ends the work on all runs. Another server goes on with them.
    pub stopping: CancellationToken,
    /// The workflows that runs have started, also those for which no run waits.
    pub workflows: TaskTracker,
    /// The schemas in requests to models that are under way.
    pub schema_texts: SchemaTexts,
    runs: Arc<DashMap<AgentRunId, WorkingRun>>,
    next: Arc<AtomicU64>,
}

struct WorkingRun {
    /// Distinguishes the work on a run from earlier work on the same run.
    number: u64,
    organization: OrganizationId,
    cancelled: CancellationToken,
}

/// The work on a run, which can be cancelled while this exists.
pub(super) struct Working {
    runs: Arc<DashMap<AgentRunId, WorkingRun>>,
    run: AgentRunId,
    number: u64,
    /// Ends a call of a tool, too.
    pub cancelled: CancellationToken,
    /// Ends the work after a call of a tool.
    pub stopping: CancellationToken,
}

impl Default for WorkingRuns {
    fn default() -> Self {
        Self {
            admission: Arc::new(Admission::new("agent runs", AGENT_RUNS)),
            stopping: CancellationToken::new(),
            workflows: TaskTracker::new(),
            schema_texts: SchemaTexts::default(),
            runs: Arc::default(),
            next: Arc::default(),
        }
    }
}

impl WorkingRuns {
    pub fn begin(&self, run: &AgentRun) -> Working {
        let (cancelled, number) = (CancellationToken::new(), self.next.fetch_add(1, Ordering::Relaxed));
        let entry = WorkingRun { number, organization: run.organization.clone(), cancelled: cancelled.clone() };
        self.runs.insert(run.id.clone(), entry);
        Working { runs: self.runs.clone(), run: run.id.clone(), number, cancelled, stopping: self.stopping.clone() }
    }

    /// Ends the work on a run that was cancelled. A run on which another server works ends with its next checkpoint.
    pub fn cancel(&self, run: &AgentRunId) {
        if let Some(entry) = self.runs.get(run) {
            entry.cancelled.cancel();
        }
    }

    /// What this server can take over.
    pub fn capacity(&self, has_model: bool) -> AgentRunCapacity {
        let mut counts: HashMap<OrganizationId, usize> = HashMap::new();
        let mut working = Vec::new();
        for entry in self.runs.iter() {
            *counts.entry(entry.organization.clone()).or_default() += 1;
            working.push(entry.key().clone());
        }
        let busy = counts.into_iter().filter(|(_, count)| *count >= TAKEN_OVER_MAX);
        AgentRunCapacity { working, busy: busy.map(|(organization, _)| organization).collect(), has_model }
    }
}

impl Working {
    /// Whether this server shall not take another step.
    pub fn is_over(&self) -> bool {
        self.cancelled.is_cancelled() || self.stopping.is_cancelled()
    }

    /// Completes when [`Working::is_over`].
    pub async fn wait_until_over(&self) {
        tokio::select! {
            () = self.cancelled.cancelled() => {}
            () = self.stopping.cancelled() => {}
        }
    }
}

impl Drop for Working {
    fn drop(&mut self) {
        self.runs.remove_if(&self.run, |_, entry| entry.number == self.number);
    }
}
