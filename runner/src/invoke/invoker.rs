//! The one function through which every recorded run of every tool passes.

use std::sync::Arc;

use futures_util::future::join_all;
use registry::{
    Artifacts, Clock, Digest, InvocationId, OrganizationId, Principal, Recordings, RequestedCancellation, Store,
    ToolId, ToolName, UserVariables,
};
use tokio::sync::watch;
use tracing::Instrument;

use super::cancellation::CancellableRuns;
use super::record_retries::RecordRetries;
use super::resolve::{Resolved, Resolver};
use super::run::{PendingRun, Run};
use super::services::Services;
use crate::admission::Admission;
use crate::call::{Call, EventSender, INPUTS_MAX, Input, RunResult};
use crate::code_cache::CodeCache;
use crate::code_store::CodeStore;
use crate::compile::Compiler;
use crate::config::Config;
use crate::egress::Egress;
use crate::error::Error;
use crate::executor::Executor;
use crate::input_documents::InputDocuments;
use crate::redact::Redaction;
use crate::schema::{InputSchema, SchemaMatcher};
use crate::trial::{TrialRunner, TrialServices};

/// The database and the artifacts of a server.
pub struct Storage {
    pub store: Store,
    pub artifacts: Artifacts,
}

/// Runs tools and records every run.
#[derive(Clone)]
pub struct Invoker {
    pub(super) services: Services,
    pub(super) resolver: Resolver,
    pub(super) admission: Admission,
}

impl Invoker {
    /// # Errors
    /// When the engine's settings do not fit the machine.
    pub fn start(config: &Config, storage: Storage, clock: Clock) -> Result<Self, Error> {
        let Storage { store, artifacts } = storage;
        let recordings = Recordings::of(&store, &artifacts);
        let codes = CodeStore::new(CodeCache::open(&config.cache_dir, config.cache_key)?);
        let executor = Executor::start(config, codes.clone())?;
        let compiler = Compiler::new(&config.compiler, codes);
        Ok(Self {
            resolver: Resolver {
                store: store.clone(),
                artifacts,
                compiler,
                limits_max: config.limits_max,
                versions: Arc::default(),
            },
            admission: Admission::new("runs", config.runs),
            services: Services {
                retries: RecordRetries::new(store.clone()),
                cancellable: CancellableRuns::default(),
                store,
                recordings,
                executor,
                schemas: SchemaMatcher::start(config)?,
                egress: Egress::new(config.egress.clone(), clock.clone())?,
                clock,
            },
        })
    }

    /// Runs without a record, which share the queue and the processes of this invoker.
    ///
    /// # Errors
    /// When the TLS settings are refused.
    pub fn trial_runner(&self) -> Result<TrialRunner, Error> {
        let Services { clock, executor, schemas, .. } = self.services.clone();
        TrialRunner::new(TrialServices {
            executor,
            admission: self.admission.clone(),
            schemas,
            compiler: self.resolver.compiler.clone(),
            limits_max: self.resolver.limits_max,
            clock,
        })
    }

    #[must_use]
    pub const fn compiler(&self) -> &Compiler {
        &self.resolver.compiler
    }

    /// Loads a compiled component into the runners, so that its first run does not wait for loading.
    pub fn load_early(&self, component: &Digest) {
        self.services.executor.load(component);
    }

    /// Number of live runner processes; `None` without such processes.
    #[must_use]
    pub fn runners_alive(&self) -> Option<watch::Receiver<usize>> {
        self.services.executor.alive()
    }

    /// Runs every input in parallel and returns the results in the order of the inputs. Each run is durably recorded
    /// before it starts, and again before this function returns.
    ///
    /// # Errors
    /// When no input ran: no version matches, an input violates the schema, or the queue is full. Also when a record
    /// could not be written.
    pub async fn invoke(&self, call: Call, events: EventSender) -> Result<Vec<RunResult>, Error> {
        let Call { subject, principal, inputs, source, result_persistence, conversation, depth, operation } = call;
        if depth.is_too_deep() {
            return Err(Error::LoopDetected);
        }
        let resolved = self.resolver.resolve(&principal, subject).await?;
        self.validate(&principal.organization, &resolved.loaded.schema, &inputs).await?;
        let stored = self.services.store.user_variables(&principal.organization, &principal.user).await?;
        let inputs: Vec<_> = inputs.into_iter().map(|input| input.or_stored(&stored)).collect();
        let redaction = self.redaction(&principal, &resolved, &stored).await?;
        let admitted = self.admission.admit(&principal.organization, inputs.len())?;
        let run = Run {
            services: &self.services,
            redaction,
            resolved: &resolved,
            principal: &principal,
            conversation: conversation.as_ref(),
            depth,
            persistence: result_persistence,
            admitted: &admitted,
            events: &events,
        };
        let documents = inputs.iter().map(InputDocuments::of).collect::<Result<Vec<_>, _>>()?;
        let started = run.record_start(inputs, &source, operation).await?;
        let runs = started.into_iter().zip(documents).enumerate().map(|(index, ((id, cancellation), documents))| {
            let span = tracing::debug_span!("run", invocation = %id, tool = resolved.tool_name);
            Box::pin(run.execute_and_record(PendingRun { index, id, documents, cancellation }).instrument(span))
        });
        join_all(runs).await.into_iter().collect()
    }

    /// Finds the live tool with a name, for a caller that does not know its id.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn tool_named(&self, principal: &Principal, name: &ToolName) -> Result<Option<ToolId>, Error> {
        let found = self.services.store.find_live_tool(&principal.organization, name).await?;
        Ok(found.map(|tool| tool.id))
    }

    /// Cancels a run of the principal's organisation: it fails as `cancelled`. Returns `false` when no such run is in
    /// progress on this server.
    #[must_use]
    pub fn cancel(&self, principal: &Principal, run: &InvocationId) -> bool {
        self.services.cancellable.cancel(&principal.organization, run, &principal.user)
    }

    /// Cancels a run of this server that a user cancelled at another one.
    pub fn cancel_requested(&self, request: &RequestedCancellation) {
        // A run that has ended meanwhile is not cancelled.
        let _ = self.services.cancellable.cancel(&request.organization, &request.run, &request.by);
    }

    async fn validate(&self, of: &OrganizationId, schema: &InputSchema, inputs: &[Input]) -> Result<(), Error> {
        if inputs.is_empty() || inputs.len() > INPUTS_MAX {
            return Err(Error::InputCount { count: inputs.len() });
        }
        let inputs = inputs.iter().map(|input| input.input_parameters.clone()).collect();
        self.services.schemas.validate(of, schema, inputs).await
    }

    /// The caller does not have the stored variables of the user, so they are like the secrets of the tool.
    async fn redaction(
        &self,
        principal: &Principal,
        resolved: &Resolved,
        stored: &UserVariables,
    ) -> Result<Redaction, Error> {
        let of_tool = resolved.variables.secrets.values().chain(resolved.egress_policy.secret_values());
        let secrets: Vec<_> = of_tool.chain(stored.sensitive.values()).cloned().collect();
        let redacts_answers =
            !secrets.is_empty() && self.services.store.redacts_answers(&principal.organization).await?;
        Ok(Redaction::of(secrets, redacts_answers))
    }
}
