//! Replays the last runs of a version with a candidate, before the candidate is published.

use futures_util::{StreamExt, TryStreamExt, stream};
use registry::{Principal, RunId, ToolVersion};

use super::invoker::Invoker;
use super::replay::{Replay, ReplayResult, ReplayTarget};
use crate::calls::call::Candidate;
use crate::error::Error;
use crate::sandbox::outcome::Outcome;
use crate::sandbox::tape::{Difference, DifferenceKind};

/// Concurrent replays. They leave room for runs of callers.
const PARALLEL: usize = 2;
/// Differing runs that are listed. Further ones are counted.
const LISTED_RUNS_MAX: usize = 20;
/// Differences that are listed for one run.
const LISTED_DIFFERENCES_MAX: usize = 5;

/// The runs to replay: the last recorded ones of a version.
#[derive(Clone, Copy)]
pub struct LastRuns<'a> {
    pub version: &'a ToolVersion,
    pub runs_max: u32,
}

/// The results of the replays.
#[derive(Debug, Default)]
pub struct ReplayReport {
    /// Number of replayed runs.
    pub runs: usize,
    /// Number of replayed runs with differences.
    pub different: usize,
    /// Number of runs without a readable tape.
    pub skipped: usize,
    /// The first runs with differences, newest first.
    pub listed: Vec<DifferingRun>,
    /// Computing time of the replayed runs when they were recorded.
    pub recorded_us: u64,
    /// Computing time of the replays.
    pub replayed_us: u64,
}

/// A run that the candidate answers differently.
#[derive(Debug)]
pub struct DifferingRun {
    pub invocation: RunId,
    /// The reason why the candidate does not accept the run's input, if it does not.
    pub refusal: Option<String>,
    pub differences: Vec<Difference>,
}

/// The replay of one run.
enum RunReplay {
    Ran { replayed: Box<ReplayResult> },
    Refused { reason: String },
    Skipped,
}

impl Invoker {
    /// Replays the last recorded runs of a version with a candidate. The replays are not recorded.
    ///
    /// # Errors
    /// When the store or a runner fails, or the queue is full. A run that cannot be replayed is not an error.
    pub async fn replay_last_runs(
        &self,
        principal: &Principal,
        last: LastRuns<'_>,
        candidate: &Candidate,
    ) -> Result<ReplayReport, Error> {
        let runs = self.services.store.history().taped_runs(last.version, last.runs_max).await?;
        let one = |invocation: RunId| async move {
            let replay = self.replay_one(principal, &invocation, candidate).await?;
            Ok::<_, Error>((invocation, replay))
        };
        let replays = stream::iter(runs).map(one).buffered(PARALLEL);
        let add = |sum: ReplayReport, (invocation, replay)| async { Ok(sum.with(invocation, replay)) };
        replays.try_fold(ReplayReport::default(), add).await
    }

    async fn replay_one(
        &self,
        principal: &Principal,
        invocation: &RunId,
        candidate: &Candidate,
    ) -> Result<RunReplay, Error> {
        let target = ReplayTarget::Candidate(Box::new(candidate.clone()));
        let replay = Replay { principal: principal.clone(), invocation: invocation.clone(), target };
        match self.replay(replay).await {
            Ok(replayed) => Ok(RunReplay::Ran { replayed: Box::new(replayed) }),
            Err(error @ (Error::InvalidInput { .. } | Error::VariableMissing { .. })) => {
                Ok(RunReplay::Refused { reason: error.to_string() })
            }
            Err(Error::TapeMissing(_) | Error::TapeCut | Error::TapeDamaged) => Ok(RunReplay::Skipped),
            Err(error) => Err(error),
        }
    }
}

/// The differences that callers see: no printed text, no counts, and no stack trace of the same failure.
fn select_visible(replayed: ReplayResult) -> Vec<Difference> {
    let fails_alike = fails_alike(&replayed.recorded, &replayed.result.outcome);
    let is_visible = |one: &Difference| match one.what {
        DifferenceKind::Outcome => !fails_alike,
        DifferenceKind::Effect => true,
        DifferenceKind::Logs | DifferenceKind::Count => false,
    };
    replayed.differences.into_iter().filter(is_visible).collect()
}

fn fails_alike(one: &Outcome, other: &Outcome) -> bool {
    let failure = |outcome: &Outcome| match outcome {
        Outcome::Failed { exception_type, exception_message, .. } => {
            Some((exception_type.clone(), exception_message.clone()))
        }
        Outcome::Succeeded { .. } => None,
    };
    failure(one).is_some_and(|one| failure(other) == Some(one))
}

impl ReplayReport {
    fn with(mut self, invocation: RunId, replay: RunReplay) -> Self {
        let (refusal, differences) = match replay {
            RunReplay::Skipped => {
                self.skipped += 1;
                return self;
            }
            RunReplay::Refused { reason } => (Some(reason), Vec::new()),
            RunReplay::Ran { replayed } => {
                self.recorded_us += replayed.recorded_cost.guest_us;
                self.replayed_us += replayed.replayed_cost.guest_us;
                (None, select_visible(*replayed))
            }
        };
        self.runs += 1;
        if refusal.is_some() || !differences.is_empty() {
            self.different += 1;
            if self.listed.len() < LISTED_RUNS_MAX {
                let differences = differences.into_iter().take(LISTED_DIFFERENCES_MAX).collect();
                self.listed.push(DifferingRun { invocation, refusal, differences });
            }
        }
        self
    }
}
