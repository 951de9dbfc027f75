//! The one function that every run of every tool passes.
//!
//! resolve → permit → validate → mode → policy → limits →
//! record start → execute → shape → record end → render. This is the only room
//! of the crate that touches the store; [`run`] has what each input passes.

mod answers;
mod closing;
pub(crate) mod outlet;
mod rehearsal;
mod replay;
mod run;
mod tape;

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use registry::{Artifacts, Clock, Digest, EnvvarName, Language, Store, ToolId, ToolVersion, Variables, Version};
use tokio::sync::watch;
use tracing::Instrument;

use crate::admission::{Admission, Full};
use crate::cache::Compiled;
use crate::call::INPUTS_MAX;
use crate::documents::Documents;
use crate::executor::Executor;
use crate::redact::Redaction;
use crate::versions::{Loaded, Versions};
use crate::{
    Call, Candidate, Code, Codes, Compiler, Config, Damage, Egress, Error, EventSender, Input, InputSchema, Limits,
    Maker, Mocks, RunResult, Standins, Subject, Trials,
};
use closing::Unclosed;
use outlet::Outlet;
pub use rehearsal::{Rehearsal, Rehearsed};
pub use replay::{Against, Replay, Replayed};
use run::Run;

/// The wire's version of a branch that is not published.
pub(crate) const UNPUBLISHED: Version = Version { major: 0, minor: 0, patch: 0 };
/// A place becomes free when a run ends; most end well within this.
const RETRY_AFTER: Duration = Duration::from_secs(1);

/// Runs tools and records every run.
#[derive(Clone)]
pub struct Invoker {
    store: Store,
    artifacts: Artifacts,
    clock: Clock,
    executor: Executor,
    compiler: Compiler,
    admission: Admission,
    egress: Egress,
    limits_max: Limits,
    versions: Arc<Versions>,
    unclosed: Unclosed,
}

/// A subject with everything its runs need.
struct Resolved {
    tool_id: Option<ToolId>,
    tool_name: String,
    version: Version,
    loaded: Arc<Loaded>,
    language: Language,
    limits: Limits,
    /// What the tool has.
    variables: Variables,
    outlet: Outlet,
    /// Of a version's whole component.
    component: Option<Digest>,
    is_taped: bool,
    /// Whose recorded answers its simulations have, and its other runs add to, when it allows that.
    answers_of: Option<ToolId>,
}

impl Invoker {
    /// # Errors
    /// When the engine's settings do not fit the machine.
    pub fn start(config: &Config, store: Store, artifacts: Artifacts, clock: Clock) -> Result<Self, Error> {
        let compiled = Compiled::open(&config.cache_dir, config.cache_key)?;
        let codes = Codes::new(compiled);
        let executor = Executor::start(config, codes.clone())?;
        Ok(Self {
            store,
            artifacts,
            executor,
            compiler: Compiler::new(&config.compiler, codes),
            admission: Admission::new("runs", config.runs),
            egress: Egress::new(config.egress.clone(), clock.clone())?,
            clock,
            limits_max: config.limits_max,
            versions: Arc::default(),
            unclosed: Unclosed::default(),
        })
    }

    /// Runs that leave no record, among those of this invoker: in its places and its processes.
    ///
    /// # Errors
    /// When the cryptography does not start.
    pub fn trials(&self) -> Result<Trials, Error> {
        let (executor, admission) = (self.executor.clone(), self.admission.clone());
        Trials::new(executor, admission, self.compiler.clone(), self.limits_max, self.clock.clone())
    }

    #[must_use]
    pub const fn compiler(&self) -> &Compiler {
        &self.compiler
    }

    /// Has a component that is compiled loaded where runs are, so that its first run need not wait for that.
    pub fn load_early(&self, component: &Digest) {
        self.executor.load(component);
    }

    /// How many runner processes are alive, now and later; none without such processes.
    #[must_use]
    pub fn runners_alive(&self) -> Option<watch::Receiver<usize>> {
        self.executor.alive()
    }

    /// Runs every input in parallel and answers in their order. Each run is
    /// durably recorded before it starts and before this returns.
    ///
    /// # Errors
    /// When nothing ran: no such version, an input that misses the schema, too
    /// much waiting. And when a record could not be written.
    pub async fn invoke(&self, call: Call, events: EventSender) -> Result<Vec<RunResult>, Error> {
        let Call { subject, principal, inputs, source, result_persistence, conversation, depth, operation } = call;
        if depth.is_too_deep() {
            return Err(Error::LoopDetected);
        }
        let resolved = self.resolve(&principal, subject).await?;
        validate(&resolved.loaded.schema, &inputs).await?;
        let redaction = self.redaction(&principal, &resolved).await?;
        let admitted = self.admission.admit(&principal.organization, inputs.len()).map_err(refused)?;
        let run = Run {
            invoker: self,
            redaction,
            resolved: &resolved,
            principal: &principal,
            conversation: conversation.as_ref(),
            depth,
            persistence: result_persistence,
            admitted: &admitted,
            events: &events,
        };
        let documents = inputs.iter().map(Documents::of).collect::<Result<Vec<_>, _>>()?;
        let ids = run.record_start(inputs, &source, operation).await?;
        let runs = ids.into_iter().zip(documents).enumerate();
        let runs = runs.map(|(index, (id, documents))| {
            let span = tracing::debug_span!("run", invocation = %id, tool = resolved.tool_name);
            Box::pin(run.one(index, id, documents).instrument(span))
        });
        join_all(runs).await.into_iter().collect()
    }

    async fn redaction(&self, principal: &registry::Principal, resolved: &Resolved) -> Result<Redaction, Error> {
        let secrets: Vec<_> =
            resolved.variables.secrets.values().chain(resolved.outlet.secret_values()).cloned().collect();
        let of_answers = !secrets.is_empty() && self.store.redacts_answers(&principal.organization).await?;
        Ok(Redaction::of(secrets, of_answers))
    }

    async fn resolve(&self, principal: &registry::Principal, subject: Subject) -> Result<Resolved, Error> {
        match subject {
            Subject::Candidate(candidate) => Box::pin(self.resolve_candidate(*candidate)).await,
            Subject::Version { tool, constraint } => {
                let organization = &principal.organization;
                let missing = || Error::VersionNotFound { constraint: constraint.to_string() };
                let callable = self.store.callable(organization, &tool, &constraint).await?.ok_or_else(missing)?;
                let (all, version) = (self.store.variables_of(&callable).await?, &callable.version);
                let variables = declared(&version.required_envvars, &version.required_secret_envvars, all)?;
                self.resolve_version(callable.tool_name.to_string(), version, variables).await
            }
        }
    }

    async fn resolve_candidate(&self, candidate: Candidate) -> Result<Resolved, Error> {
        let Candidate { tool, tool_name, code, input_schema: schema, mocks, settings, mut variables, .. } = candidate;
        self.ready(&code.component, !code.bundle.is_empty()).await?;
        let output = compiled(settings.output_schema.as_ref()).await?;
        Ok(Resolved {
            tool_id: tool,
            tool_name,
            version: UNPUBLISHED,
            loaded: Arc::new(Loaded { code: Ok(code), schema, output, mocks }),
            language: settings.language,
            limits: Limits::of(&settings, &self.limits_max),
            outlet: Outlet::take(&settings, &mut variables),
            variables,
            component: None,
            is_taped: settings.tape && self.store.keeps_tapes(),
            // Code that nobody published gets and leaves none.
            answers_of: None,
        })
    }

    async fn resolve_version(
        &self,
        tool_name: String,
        version: &ToolVersion,
        mut variables: Variables,
    ) -> Result<Resolved, Error> {
        Ok(Resolved {
            tool_id: Some(version.tool.clone()),
            tool_name,
            version: version.version,
            loaded: self.load(version).await?,
            language: version.settings.language,
            limits: Limits::of(&version.settings, &self.limits_max),
            outlet: Outlet::take(&version.settings, &mut variables),
            variables,
            component: Some(version.component_digest),
            is_taped: version.settings.tape && self.store.keeps_tapes(),
            answers_of: version.settings.recorded_answers.then(|| version.tool.clone()),
        })
    }

    async fn load(&self, version: &ToolVersion) -> Result<Arc<Loaded>, Error> {
        match self.versions.get(&version.id).filter(|_| self.compiler.has(&version.image_digest)) {
            Some(found) => Ok(found),
            // In a box, because every call would have room for it.
            None => Box::pin(self.load_first(version)).await,
        }
    }

    async fn load_first(&self, version: &ToolVersion) -> Result<Arc<Loaded>, Error> {
        let (schema, output) =
            (compiled(Some(&version.input_schema)).await?, compiled(version.settings.output_schema.as_ref()).await?);
        let schema = schema.ok_or_else(|| Error::internal("a version has no schema"))?;
        let (code, mocks) = match self.stored(version).await {
            // Not kept: it may be put back.
            Err(Error::Damaged(damage)) => {
                return Ok(Arc::new(Loaded { code: Err(damage), schema, output, mocks: Arc::default() }));
            }
            stored => stored?,
        };
        let loaded = Arc::new(Loaded { code: Ok(code), schema, output, mocks: mocks.into() });
        self.versions.keep(version.id.clone(), loaded.clone());
        Ok(loaded)
    }

    /// What of a version is among the artefacts.
    async fn stored(&self, version: &ToolVersion) -> Result<(Code, Standins), Error> {
        let component = version.image_digest;
        self.ready(&component, version.bundle_digest.is_some()).await?;
        let bundle = match &version.bundle_digest {
            Some(digest) => self.bytes(digest).await?,
            None => Vec::new(),
        };
        let mocks = match &version.settings.mocks_digest {
            Some(digest) => standins(&self.bytes(digest).await?)?,
            None => Standins::default(),
        };
        Ok((Code { component, bundle: bundle.into() }, mocks))
    }

    /// Compiles a component that this node has not compiled yet.
    async fn ready(&self, component: &Digest, has_bundle: bool) -> Result<(), Error> {
        // Only an image of the platform's runs bundles.
        let maker = if has_bundle { Maker::Platform } else { Maker::Author };
        self.compiler.ready(component, maker, self.bytes(component)).await.map(drop)
    }

    async fn bytes(&self, digest: &Digest) -> Result<Vec<u8>, Error> {
        let damaged = |problem: String| Error::Damaged(Damage { artifact: *digest, problem });
        match self.artifacts.get(digest).await {
            Ok(found) => found.ok_or_else(|| damaged("is missing".to_owned())),
            Err(registry::Error::Corrupt { .. }) => Err(damaged("is damaged".to_owned())),
            Err(registry::Error::Io { source, .. }) => Err(damaged(format!("cannot be read ({source})"))),
            Err(error) => Err(error.into()),
        }
    }
}

/// Apart from the threads that answer requests: large schemas take their time.
pub(crate) async fn compiled(schema: Option<&serde_json::Value>) -> Result<Option<InputSchema>, Error> {
    let Some(schema) = schema.cloned() else { return Ok(None) };
    let compiled = tokio::task::spawn_blocking(move || InputSchema::compile(&schema)).await;
    compiled.map_err(|error| Error::internal(error.to_string()))?.map(Some).map_err(Error::internal)
}

fn standins(bytes: &[u8]) -> Result<Standins, Error> {
    let mocks: Mocks = serde_json::from_slice(bytes)
        .map_err(|error| Error::internal(format!("stored mocks cannot be read: {error}")))?;
    Ok(Standins::new(&mocks))
}

pub(crate) fn refused(full: Full) -> Error {
    match full {
        Full::Organization => Error::TooManyRuns { retry_after: RETRY_AFTER },
        Full::Process => Error::Overloaded { retry_after: RETRY_AFTER },
    }
}

async fn validate(schema: &InputSchema, inputs: &[Input]) -> Result<(), Error> {
    if inputs.is_empty() || inputs.len() > INPUTS_MAX {
        return Err(Error::InputCount { count: inputs.len() });
    }
    schema.validate(inputs.iter().map(|input| input.input_parameters.clone()).collect()).await
}

/// The variables that a version declares; all of them must be set.
fn declared(envvars: &[EnvvarName], secrets: &[EnvvarName], mut all: Variables) -> Result<Variables, Error> {
    let missing = |name: &EnvvarName| Error::VariableMissing { name: name.to_string() };
    let mut found = Variables::default();
    for name in envvars {
        let value = all.envvars.remove(name).ok_or_else(|| missing(name))?;
        found.envvars.insert(name.clone(), value);
    }
    for name in secrets {
        let value = all.secrets.remove(name).ok_or_else(|| missing(name))?;
        found.secrets.insert(name.clone(), value);
    }
    Ok(found)
}
