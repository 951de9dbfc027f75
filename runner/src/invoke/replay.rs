//! A run once more, over its tape: with no socket and no clock, and without a trace in the history.
//!
//! The same version gives the same, byte for byte, or the first difference is named. Another version or a branch gives
//! what it would have done: matched as far as the tape goes, with all that is different.

use registry::{Cost, Finished, Invocation, InvocationId, InvocationOutcome, Principal, SecretValue, Variables};
use serde_json::Value;

use super::tape::{Given, Kept};
use super::{Invoker, Resolved, declared, refused};
use crate::execution::group_of;
use crate::redact::{Redaction, Redactor};
use crate::tape::{changes, first_difference};
use crate::taped;
use crate::{
    Candidate, Damage, Difference, End, Error, Executed, Execution, Limits, Outcome, Ports, RunResult, Tape, Taped,
    Taping, What, shape,
};

/// What a replay may take of what its run was allowed: the machine may be slower or busier than it was then.
const TIME_FACTOR: u64 = 2;

/// A run to be repeated.
pub struct Replay {
    pub principal: Principal,
    pub invocation: InvocationId,
    pub against: Against,
}

/// Which code repeats it.
pub enum Against {
    /// The version that ran.
    Itself,
    /// The highest live version of the tool that the constraint admits.
    Version(registry::Constraint),
    /// A branch that was built for it. Variables come from the tape, then from the tool.
    Candidate(Box<Candidate>),
}

/// What came of a replay. Without differences it was identical.
#[derive(Debug)]
pub struct Replayed {
    pub differences: Vec<Difference>,
    /// Whether it was compared to its end; not when time had stopped the run, whose replay ends where its tape ends.
    pub is_complete: bool,
    /// How the run ended; `result` is how it ends now.
    pub recorded: Outcome,
    pub result: RunResult,
    pub recorded_cost: Option<Cost>,
    pub replayed_cost: Cost,
}

/// The code of a replay, and what it is given.
struct Prepared {
    resolved: Resolved,
    given: Given,
    limits: Limits,
    is_same: bool,
    redactor: Redactor,
}

impl Invoker {
    /// Repeats a run over its tape. Nothing of it is recorded; it counts against its organisation's runs.
    ///
    /// # Errors
    /// When there is no such run, tape or version, when the version takes no such input, when too much waits.
    pub async fn replay(&self, replay: Replay) -> Result<Replayed, Error> {
        let Replay { principal, invocation, against } = replay;
        let organization = &principal.organization;
        let record = self.store.get_invocation(organization, &invocation).await?;
        let mut record = record.ok_or(registry::Error::NotFound { what: "invocation" })?;
        let finished = record.finished.take().ok_or(Error::TapeMissing)?;
        let kept = self.kept(organization, &invocation).await?;
        let prepared = self.prepare(&principal, &record, against, &kept).await?;
        let admitted = self.admission.admit(organization, 1).map_err(refused)?;
        let _place = admitted.place().await.ok_or_else(|| Error::internal("the runner is shutting down"))?;
        let started_at = u64::try_from(record.started_at.as_milliseconds()).unwrap_or_default();
        let group = group_of(organization);
        let execution = Execution { group, ..prepared.execution(kept.tape.clone(), started_at)? };
        let mut executed = self.executor.run(Box::new(execution), Ports::closed()).await?;
        executed.outcome = shape::promised(executed.outcome, prepared.resolved.loaded.output.as_ref()).await?;
        compared(executed, &kept, &prepared, finished, invocation)
    }

    async fn prepare(
        &self,
        principal: &Principal,
        record: &Invocation,
        against: Against,
        kept: &Kept,
    ) -> Result<Prepared, Error> {
        let (resolved, is_same) = match against {
            Against::Itself => (self.resolve_recorded(record, kept).await?, true),
            Against::Version(constraint) => {
                let tool = record.tool.as_ref().ok_or(Error::ReplaySubject { wanted: "a branch" })?;
                let missing = || Error::VersionNotFound { constraint: constraint.to_string() };
                let organization = &principal.organization;
                let found = self.store.resolve_version(organization, tool, &constraint).await?.ok_or_else(missing)?;
                let is_same = Some(found.version) == record.tool_version;
                let all = self.variables(record, kept).await?;
                let variables = declared(&found.required_envvars, &found.required_secret_envvars, all)?;
                (self.resolve_version(String::new(), &found, variables).await?, is_same)
            }
            Against::Candidate(mut candidate) => {
                let all = self.variables(record, kept).await?;
                candidate.variables = declared(&candidate.required_envvars, &candidate.required_secret_envvars, all)?;
                (self.resolve_candidate(*candidate).await?, false)
            }
        };
        let redactor = redactor(kept, &resolved)?;
        if is_same {
            let (given, limits) = (kept.given.clone(), kept.limits);
            return Ok(Prepared { resolved, given, limits, is_same, redactor });
        }
        resolved.loaded.schema.validate(vec![object(&kept.given.tool_input)?]).await?;
        let given = Given {
            metadata: with_version(&kept.given.metadata, &resolved.version.to_string())?,
            config: crate::host::variables::config(&resolved.variables),
            ..kept.given.clone()
        };
        let limits = resolved.limits;
        Ok(Prepared { resolved, given, limits, is_same, redactor })
    }

    /// The version that ran, live or not.
    async fn resolve_recorded(&self, record: &Invocation, kept: &Kept) -> Result<Resolved, Error> {
        let wanted = || Error::ReplaySubject { wanted: "a version or a branch" };
        let (tool, version) = record.tool.as_ref().zip(record.tool_version.as_ref()).ok_or_else(wanted)?;
        let found = self.store.get_version(&record.organization, tool, version).await?.ok_or_else(wanted)?;
        if kept.component != Some(found.component_digest) {
            return Err(wanted()); // the test of a branch
        }
        self.resolve_version(String::new(), &found, Variables::default()).await
    }

    /// The variables of the tape, and those of the tool that it does not have.
    async fn variables(&self, record: &Invocation, kept: &Kept) -> Result<Variables, Error> {
        let mut variables = match &record.tool {
            Some(tool) => self.store.tool_variables(&record.organization, tool).await?,
            None => Variables::default(),
        };
        let Variables { envvars, secrets } = taped::variables(&kept.given.config)?;
        variables.envvars.extend(envvars);
        variables.secrets.extend(secrets);
        Ok(variables)
    }
}

impl Prepared {
    fn execution(&self, tape: Box<Tape>, started_at: u64) -> Result<Execution, Damage> {
        let Given { tool_input, metadata, config, conversation, user_variables } = self.given.clone();
        let Limits { wall_ms, cpu_ms, host_calls, .. } = self.limits;
        Ok(Execution {
            code: self.resolved.loaded.code.clone()?,
            tool_input,
            metadata,
            config,
            conversation,
            user_variables,
            limits: Limits {
                wall_ms: wall_ms.saturating_mul(TIME_FACTOR),
                cpu_ms: cpu_ms.saturating_mul(TIME_FACTOR),
                // Counted exactly, and looked at from time to time.
                host_calls: host_calls.saturating_mul(TIME_FACTOR),
                ..self.limits
            },
            group: 0,
            taping: if self.is_same { Taping::Again(tape) } else { Taping::Otherwise { tape, started_at } },
        })
    }
}

fn compared(
    executed: Executed,
    kept: &Kept,
    prepared: &Prepared,
    finished: Finished<registry::RawJson>,
    invocation_id: InvocationId,
) -> Result<Replayed, Error> {
    let Executed { outcome, duration, logs, ledger, taped, .. } = executed;
    let Taped::Whole(now) = taped else { return Err(Error::TapeCut) };
    let mut differences = match prepared.is_same {
        true => first_difference(&kept.tape, &now).into_iter().collect(),
        false => changes(&kept.tape, &now),
    };
    let is_complete = kept.tape.end != End::Clock;
    let stays = prepared.is_same && !is_complete && differences.is_empty();
    let recorded = recorded_outcome(finished.outcome);
    let (outcome, persisted) = match stays {
        true => (recorded.clone(), finished.persisted),
        false => shape::shape(outcome, kept.persistence, prepared.limits.output_characters),
    };
    let outcome = prepared.redactor.outcome(outcome);
    let logs = prepared.redactor.text(logs);
    for difference in &mut differences {
        match difference.what {
            What::Outcome => difference.say(outcome_text(&recorded), outcome_text(&outcome)),
            What::Logs => difference.say(finished.logs.clone(), logs.clone()),
            What::Effect | What::Count => difference.change(|text| prepared.redactor.text(text)),
        }
    }
    let duration_ms = u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
    Ok(Replayed {
        differences,
        is_complete,
        recorded,
        result: RunResult { invocation_id, outcome, duration_ms, persisted },
        recorded_cost: finished.ledger.map(|ledger| ledger.cost),
        replayed_cost: ledger.cost,
    })
}

fn recorded_outcome(outcome: InvocationOutcome) -> Outcome {
    match outcome {
        InvocationOutcome::Succeeded { output } => Outcome::Succeeded { output },
        InvocationOutcome::Failed { exception_type, exception_message, exception_stack_trace } => {
            Outcome::Failed { exception_type, exception_message, exception_stack_trace }
        }
    }
}

fn outcome_text(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Succeeded { output } => output.clone(),
        Outcome::Failed { exception_type, exception_message, exception_stack_trace } => {
            let lines = exception_stack_trace.iter().map(|line| format!("\n{line}"));
            format!("{exception_type}: {exception_message}") + &lines.collect::<String>()
        }
    }
}

/// Takes out everything that the history has not: also what its caller kept to itself, since somebody else may ask.
fn redactor(kept: &Kept, resolved: &Resolved) -> Result<Redactor, Error> {
    let mut secrets = taped::sensitive(&kept.given.user_variables)?;
    secrets.extend(taped::variables(&kept.given.config)?.secrets.into_values());
    secrets.extend(kept.host_secrets.iter().cloned().map(SecretValue::new));
    secrets.extend(resolved.variables.secrets.values().chain(resolved.outlet.secret_values()).cloned());
    Ok(Redaction::of(secrets, true).with(&[]).stored)
}

fn object(document: &str) -> Result<serde_json::Map<String, Value>, Error> {
    serde_json::from_str(document).map_err(|_| Error::TapeDamaged)
}

/// The version is that of the code that runs now.
fn with_version(metadata: &str, version: &str) -> Result<String, Error> {
    let mut metadata = object(metadata)?;
    metadata.insert("version".into(), version.into());
    Ok(Value::Object(metadata).to_string())
}
