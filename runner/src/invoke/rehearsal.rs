//! What a candidate would have answered: the last runs of a version again, over their tapes.

use futures_util::{StreamExt, TryStreamExt, stream};
use registry::{InvocationId, Principal, ToolVersion};

use super::Invoker;
use super::replay::{Against, Replay, Replayed};
use crate::{Candidate, Difference, Error, Outcome, What};

/// So many at once leave room for runs that somebody waits for.
const PARALLEL: usize = 2;
/// Of runs with differences, so many are told of; the others are counted.
const TOLD_RUNS_MAX: usize = 20;
/// Of the differences of one run.
const TOLD_DIFFERENCES_MAX: usize = 5;

/// What became of the runs.
#[derive(Debug, Default)]
pub struct Rehearsal {
    /// How many ran again.
    pub runs: usize,
    /// How many of these did something else than they did.
    pub different: usize,
    /// How many had no tape that could be read.
    pub skipped: usize,
    /// The first of those with differences, newest first.
    pub told: Vec<Rehearsed>,
    /// Computing time of the runs that ran again: then, and now.
    pub recorded_us: u64,
    pub replayed_us: u64,
}

/// A run that the candidate answers differently.
#[derive(Debug)]
pub struct Rehearsed {
    pub invocation: InvocationId,
    /// Why it did not run at all, or what it did otherwise.
    pub refusal: Option<String>,
    pub differences: Vec<Difference>,
}

/// How one run went.
enum Went {
    Ran { replayed: Box<Replayed> },
    Refused { reason: String },
    Skipped,
}

impl Invoker {
    /// Has a candidate answer the last `runs_max` recorded runs of a version. Nothing of it is recorded.
    ///
    /// # Errors
    /// When the history or a runner fails, or too much waits. That a run cannot be repeated is no error.
    pub async fn rehearse(
        &self,
        principal: &Principal,
        version: &ToolVersion,
        candidate: &Candidate,
        runs_max: u32,
    ) -> Result<Rehearsal, Error> {
        let runs = self.store.taped_runs(version, runs_max).await?;
        let one = |invocation: InvocationId| async move {
            let went = self.rehearse_one(principal, &invocation, candidate).await?;
            Ok::<_, Error>((invocation, went))
        };
        let went = stream::iter(runs).map(one).buffered(PARALLEL);
        went.try_fold(Rehearsal::default(), |sum, (invocation, went)| async { Ok(sum.with(invocation, went)) }).await
    }

    async fn rehearse_one(
        &self,
        principal: &Principal,
        invocation: &InvocationId,
        candidate: &Candidate,
    ) -> Result<Went, Error> {
        let against = Against::Candidate(Box::new(candidate.clone()));
        let replay = Replay { principal: principal.clone(), invocation: invocation.clone(), against };
        match self.replay(replay).await {
            Ok(replayed) => Ok(Went::Ran { replayed: Box::new(replayed) }),
            Err(error @ (Error::InvalidInput { .. } | Error::VariableMissing { .. })) => {
                Ok(Went::Refused { reason: error.to_string() })
            }
            Err(Error::TapeMissing | Error::TapeCut | Error::TapeDamaged) => Ok(Went::Skipped),
            Err(error) => Err(error),
        }
    }
}

/// The differences that callers see: not what a tool prints, how often it reads a clock, and on which line it fails.
fn seen(replayed: Replayed) -> Vec<Difference> {
    let fails_alike = fails_alike(&replayed.recorded, &replayed.result.outcome);
    let is_seen = |one: &Difference| match one.what {
        What::Outcome => !fails_alike,
        What::Effect => true,
        What::Logs | What::Count => false,
    };
    replayed.differences.into_iter().filter(is_seen).collect()
}

fn fails_alike(one: &Outcome, other: &Outcome) -> bool {
    let told = |outcome: &Outcome| match outcome {
        Outcome::Failed { exception_type, exception_message, .. } => {
            Some((exception_type.clone(), exception_message.clone()))
        }
        Outcome::Succeeded { .. } => None,
    };
    told(one).is_some_and(|failure| told(other) == Some(failure))
}

impl Rehearsal {
    fn with(mut self, invocation: InvocationId, went: Went) -> Self {
        let (refusal, differences) = match went {
            Went::Skipped => {
                self.skipped += 1;
                return self;
            }
            Went::Refused { reason } => (Some(reason), Vec::new()),
            Went::Ran { replayed } => {
                if let Some(recorded) = &replayed.recorded_cost {
                    self.recorded_us += recorded.guest_us;
                    self.replayed_us += replayed.replayed_cost.guest_us;
                }
                (None, seen(*replayed))
            }
        };
        self.runs += 1;
        if refusal.is_some() || !differences.is_empty() {
            self.different += 1;
            if self.told.len() < TOLD_RUNS_MAX {
                let differences = differences.into_iter().take(TOLD_DIFFERENCES_MAX).collect();
                self.told.push(Rehearsed { invocation, refusal, differences });
            }
        }
        self
    }
}
