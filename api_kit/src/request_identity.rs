//! The user, the tool and the runs of a request, for the log and the trace of the request.

use std::sync::{Arc, OnceLock};

use registry::{OrganizationId, Outcome, Principal, RunId, ToolId, UserId};
use runner::RunResult;

/// An extension of each request, which the guard of its route and its work fill. Clones share the contents.
#[derive(Clone, Debug, Default)]
pub struct RequestIdentity(Arc<Contents>);

#[derive(Debug, Default)]
struct Contents {
    user: OnceLock<(OrganizationId, UserId)>,
    tool: OnceLock<ToolId>,
    runs: OnceLock<Vec<RunId>>,
    failed_runs: OnceLock<usize>,
}

impl RequestIdentity {
    pub fn set(&self, principal: &Principal) {
        self.0.user.get_or_init(|| (principal.organization.clone(), principal.user()));
    }

    /// Sets the tool that the path names, by its id or by its name.
    pub fn set_tool(&self, tool: &ToolId) {
        self.0.tool.get_or_init(|| tool.clone());
    }

    /// Sets the run that the path names.
    pub fn set_run(&self, run: &RunId) {
        self.0.runs.get_or_init(|| vec![run.clone()]);
    }

    /// Sets the runs that the request began. Their response has the status of success, however they ended.
    pub fn set_results(&self, results: &[RunResult]) {
        self.0.runs.get_or_init(|| results.iter().map(|result| result.invocation_id.clone()).collect());
        let has_failed = |result: &&RunResult| matches!(result.outcome, Outcome::Failed { .. });
        self.0.failed_runs.get_or_init(|| results.iter().filter(has_failed).count());
    }

    pub fn get(&self) -> Option<&(OrganizationId, UserId)> {
        self.0.user.get()
    }

    pub fn tool(&self) -> Option<&ToolId> {
        self.0.tool.get()
    }

    /// The number of the runs that failed, if any did.
    pub fn failed_runs(&self) -> Option<usize> {
        self.0.failed_runs.get().copied().filter(|failed| *failed > 0)
    }

    /// The ids of the runs, separated by commas.
    pub fn runs(&self) -> Option<String> {
        let runs = self.0.runs.get()?;
        Some(runs.iter().map(RunId::as_str).collect::<Vec<_>>().join(","))
    }
}
