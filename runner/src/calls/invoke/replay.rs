//! Repeats a run from its tape, without network and clock. A replay leaves no record.
//!
//! The same version gives the same result, byte for byte, or the first difference is reported. Another version or a
//! branch is answered from the tape as far as possible, and all differences are reported.

use registry::{Cost, Principal, RawJson, RunEnd, RunId, RunStart, SecretValue, Trust, Variables};
use serde_json::Value;

use super::invoker::Invoker;
use super::resolve::require_variables;
use super::resolved::Resolved;
use super::tape::{StoredTape, TapeFrame, TapeStore};
use crate::calls::call::{Candidate, RunResult};
use crate::calls::output::OutputCheck;
use crate::calls::redact::{Redaction, Redactor};
use crate::calls::{output, run_documents, tape_documents};
use crate::error::{DamagedArtifact, Error, TapeAbsence};
use crate::interaction::{Asked, Interaction};
use crate::limits::Limits;
use crate::sandbox::executed::Executed;
use crate::sandbox::execution::{Execution, RunDocuments, compute_group};
use crate::sandbox::outcome::Outcome;
use crate::sandbox::ports::Ports;
use crate::sandbox::tape::{
    Difference, DifferenceKind, End, TapeMode, TapeResult, find_changes, find_first_difference,
};

/// Factor on the time limits of a replay, since the machine may be slower or busier than it was at the run.
const TIME_FACTOR: u64 = 2;

/// A request to repeat a run.
pub struct Replay {
    pub principal: Principal,
    pub invocation: RunId,
    pub target: ReplayTarget,
}

/// The code of a replay.
pub enum ReplayTarget {
    /// The version that ran.
    Itself,
    /// The highest live version of the tool that matches the constraint.
    Version(registry::Constraint),
    /// A branch that was built for the replay. Variables come from the tape, then from the tool.
    Candidate(Box<Candidate>),
}

/// The result of a replay. Without differences it is identical to the run.
#[derive(Debug)]
pub struct ReplayResult {
    pub differences: Vec<Difference>,
    /// Whether the replay was compared to its end. `false` for a run that exceeded a time limit: its replay ends with
    /// the tape.
    pub is_complete: bool,
    /// The outcome of the recorded run.
    pub recorded: Outcome,
    /// The result of the replay.
    pub result: RunResult,
    pub recorded_cost: Cost,
    pub replayed_cost: Cost,
}

/// A recorded run.
struct Recording {
    start: RunStart,
    end: RunEnd<RawJson>,
    stored: StoredTape,
}

/// The code and documents of a replay.
struct Prepared {
    resolved: Resolved,
    documents: RunDocuments,
    limits: Limits,
    /// Whether the code is that of the recorded run.
    is_same: bool,
    redactor: Redactor,
}

impl Invoker {
    /// Repeats a run from its tape. The replay is not recorded, and counts against the runs of its organisation.
    ///
    /// # Errors
    /// When there is no such run, tape or version, when the version does not accept the input, or when the queue is
    /// full.
    pub async fn replay(&self, replay: Replay) -> Result<ReplayResult, Error> {
        let Replay { principal, invocation, target } = replay;
        let organization = &principal.organization;
        let recording = self.read_recording(&principal, &invocation).await?;
        let prepared = self.prepare(&principal, &recording, target).await?;
        let admitted = self.admissions.clients.admit(organization, 1)?;
        let _permit = admitted.permit().await.ok_or_else(|| Error::internal("the runner is shutting down"))?;
        let execution = Execution { group: compute_group(organization), ..prepared.build_execution(&recording)? };
        let mut executed = self.services.executor.run(Box::new(execution), Ports::closed()).await?;
        let schema = prepared.resolved.loaded.outputs.of_input(&prepared.documents.tool_input);
        let check = OutputCheck { schemas: &self.services.schemas, organization, schema };
        executed.outcome = check.apply(executed.outcome).await;
        compare_results(executed, &prepared, recording)
    }

    async fn read_recording(&self, principal: &Principal, run: &RunId) -> Result<Recording, Error> {
        let (store, organization) = (&self.services.store, &principal.organization);
        let record = store.history().get_invocation(organization, run).await?;
        let mut record = record.ok_or(registry::Error::NotFound { what: "invocation" })?;
        if record.start.native_tool.is_some() {
            return Err(Error::TapeMissing(TapeAbsence::BuiltIn));
        }
        let end = record.end.take().ok_or(Error::TapeMissing(TapeAbsence::Running))?;
        let stored = TapeStore { recordings: &self.services.recordings, organization, run }.open().await?;
        Ok(Recording { start: record.start, end, stored })
    }

    async fn prepare(
        &self,
        principal: &Principal,
        recording: &Recording,
        target: ReplayTarget,
    ) -> Result<Prepared, Error> {
        let (record, frame) = (&recording.start, &recording.stored.frame);
        let (resolved, is_same) = match target {
            ReplayTarget::Itself => (self.find_recorded_version(recording).await?, true),
            ReplayTarget::Version(constraint) => {
                let tool = record.tool.as_ref().ok_or(Error::ReplaySubject { wanted: "a branch" })?;
                let missing = || Error::VersionNotFound { constraint: constraint.to_string() };
                let (store, organization) = (&self.services.store, &principal.organization);
                let found =
                    store.versions().resolve_version(organization, tool, &constraint).await?.ok_or_else(missing)?;
                let is_same = Some(found.version) == record.tool_version;
                let all = self.read_variables(recording).await?;
                let variables = require_variables(&found.required_envvars, &found.required_secret_envvars, all)?;
                (self.resolver.resolve_version(String::new(), &found, variables).await?, is_same)
            }
            ReplayTarget::Candidate(mut candidate) => {
                let all = self.read_variables(recording).await?;
                candidate.variables =
                    require_variables(&candidate.required_envvars, &candidate.required_secret_envvars, all)?;
                (self.resolver.resolve_candidate(*candidate).await?, false)
            }
        };
        let redactor = build_redactor(frame, &resolved)?;
        if is_same {
            let (documents, limits) = (frame.documents.clone(), frame.limits);
            return Ok(Prepared { resolved, documents, limits, is_same, redactor });
        }
        let inputs = vec![RawJson::parse_object(&frame.documents.tool_input).map_err(|_| Error::TapeDamaged)?];
        self.services.schemas.validate(&principal.organization, &resolved.loaded.schema, inputs).await?;
        let documents = RunDocuments {
            metadata: with_version(&frame.documents.metadata, &resolved.version.to_string())?,
            config: run_documents::write_config(&resolved.variables),
            ..frame.documents.clone()
        };
        let limits = resolved.limits;
        Ok(Prepared { resolved, documents, limits, is_same, redactor })
    }

    /// The version that ran, live or deprecated.
    async fn find_recorded_version(&self, recording: &Recording) -> Result<Resolved, Error> {
        let Recording { start, stored, .. } = recording;
        let wanted = || Error::ReplaySubject { wanted: "a version or a branch" };
        let (tool, version) = start.tool.as_ref().zip(start.tool_version.as_ref()).ok_or_else(wanted)?;
        let found =
            self.services.store.versions().get_version(&start.organization, tool, version).await?.ok_or_else(wanted)?;
        if stored.frame.component != Some(found.component_digest) {
            return Err(wanted()); // the run was the test of a branch
        }
        self.resolver.resolve_version(String::new(), &found, Variables::default()).await
    }

    /// The variables of the tape, and variables of the tool that the tape does not have.
    async fn read_variables(&self, recording: &Recording) -> Result<Variables, Error> {
        let record = &recording.start;
        let mut variables = match &record.tool {
            Some(tool) => self.services.store.tools().tool_variables(&record.organization, tool).await?,
            None => Variables::default(),
        };
        let Variables { envvars, secrets } = tape_documents::read_variables(&recording.stored.frame.documents.config)?;
        variables.envvars.extend(envvars);
        variables.secrets.extend(secrets);
        Ok(variables)
    }
}

impl Prepared {
    fn build_execution(&self, recording: &Recording) -> Result<Execution, DamagedArtifact> {
        let Limits { wall_ms, cpu_ms, host_calls, .. } = self.limits;
        let tape = recording.stored.tape.clone();
        let started_at = u64::try_from(recording.start.started_at.as_milliseconds()).unwrap_or_default();
        Ok(Execution {
            code: self.resolved.loaded.code.clone()?,
            documents: self.documents.clone(),
            limits: Limits {
                wall_ms: wall_ms.saturating_mul(TIME_FACTOR),
                cpu_ms: cpu_ms.saturating_mul(TIME_FACTOR),
                // Counted exactly, but checked only from time to time.
                host_calls: host_calls.saturating_mul(TIME_FACTOR),
                ..self.limits
            },
            group: 0,
            interaction: Interaction::default(),
            tape_mode: if self.is_same {
                TapeMode::ReplayStrict(tape)
            } else {
                TapeMode::ReplayLenient { tape, started_at }
            },
        })
    }
}

fn compare_results(executed: Executed, prepared: &Prepared, recording: Recording) -> Result<ReplayResult, Error> {
    let Recording { start, end, stored: StoredTape { frame, tape: then } } = recording;
    let Executed { outcome, duration, logs, content, ledger, tape, .. } = executed;
    let TapeResult::Recorded(now) = tape else { return Err(Error::TapeCut) };
    // The tape and the ledger are written at once.
    let recorded_cost = end.ledger.ok_or(Error::TapeDamaged)?.cost;
    let mut differences = match prepared.is_same {
        true => find_first_difference(&then, &now).into_iter().collect(),
        false => find_changes(&then, &now),
    };
    let is_complete = then.end != End::Clock;
    let keeps_outcome = prepared.is_same && !is_complete && differences.is_empty();
    let recorded = end.outcome;
    let (outcome, persisted) = match keeps_outcome {
        true => (recorded.clone(), end.persisted),
        false => output::apply_limits(outcome, frame.persistence, prepared.limits.output_characters),
    };
    let content = if keeps_outcome { end.content } else { content };
    let outcome = prepared.redactor.outcome(outcome);
    let logs = prepared.redactor.logs(logs);
    let content = prepared.redactor.content(content);
    for difference in &mut differences {
        match difference.what {
            DifferenceKind::Outcome => difference.set_texts(show_outcome(&recorded), show_outcome(&outcome)),
            DifferenceKind::Logs => difference.set_texts(end.logs.clone(), logs.clone()),
            DifferenceKind::Effect | DifferenceKind::Count => {
                difference.map_texts(|text| prepared.redactor.text(text));
            }
        }
    }
    let duration_ms = u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
    Ok(ReplayResult {
        differences,
        is_complete,
        recorded,
        result: RunResult {
            invocation_id: start.id,
            outcome,
            duration_ms,
            persisted,
            trust: Trust::Untrusted,
            content,
            version: start.tool_version,
            total: ledger.total(),
            asked: Asked::default(),
        },
        recorded_cost,
        replayed_cost: ledger.cost,
    })
}

fn show_outcome(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Succeeded { output } => output.clone(),
        Outcome::Failed { exception_type, exception_message, exception_stack_trace } => {
            let lines = exception_stack_trace.iter().map(|line| format!("\n{line}"));
            format!("{exception_type}: {exception_message}") + &lines.collect::<String>()
        }
    }
}

/// Redacts every secret that the history does not contain, sensitive user variables included, since another user may
/// ask for the replay.
fn build_redactor(frame: &TapeFrame, resolved: &Resolved) -> Result<Redactor, Error> {
    let mut secrets = tape_documents::read_sensitive(&frame.documents.user_variables)?;
    secrets.extend(tape_documents::read_variables(&frame.documents.config)?.secrets.into_values());
    secrets.extend(frame.host_secrets.iter().cloned().map(SecretValue::new));
    secrets.extend(resolved.variables.secrets.values().chain(resolved.egress_policy.secret_values()).cloned());
    Ok(Redaction::of(secrets, true).with(&[]).stored)
}

fn parse_object(document: &str) -> Result<serde_json::Map<String, Value>, Error> {
    serde_json::from_str(document).map_err(|_| Error::TapeDamaged)
}

/// Replaces the version in a `metadata` document.
fn with_version(metadata: &str, version: &str) -> Result<String, Error> {
    let mut metadata = parse_object(metadata)?;
    metadata.insert("version".into(), version.into());
    Ok(Value::Object(metadata).to_string())
}
