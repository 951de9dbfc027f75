//! The one function through which every recorded run of every tool passes.

use std::sync::Arc;

use registry::{
    Artifacts, Clock, Digest, Principal, Recordings, RequestedCancellation, RunId, Store, ToolId, ToolName,
};
use tokio::sync::watch;

use super::admissions::Admissions;
use super::call_policy::CallPolicy;
use super::cancellation::CancellableRuns;
use super::compiled_rules::CompiledRules;
use super::record_retries::RecordRetries;
use super::refusal::Refusal;
use super::resolve::Resolver;
use super::services::Services;
use super::steps::Steps;
use crate::calls::call::{Call, EventSender, RunResult};
use crate::calls::native::NativeTools;
use crate::calls::schema::SchemaMatcher;
use crate::calls::trial::{TrialRunner, TrialServices};
use crate::config::Config;
use crate::error::Error;
use crate::sandbox::code::{CodeCache, CodeStore};
use crate::sandbox::compile::Compiler;
use crate::sandbox::egress::{Documents, Egress};
use crate::sandbox::executor::Executor;

/// The database and the artifacts of a server.
pub struct Storage {
    pub store: Store,
    pub artifacts: Artifacts,
}

/// What a server adds to the steps of a call. Without it, there are no native tools and no rules.
#[derive(Default)]
pub struct Extensions {
    /// The tools that the server itself provides.
    pub natives: NativeTools,
    /// Rules that forbid calls.
    pub policy: Option<Arc<dyn CallPolicy>>,
}

/// Runs tools and records every run.
#[derive(Clone)]
pub struct Invoker {
    pub(super) services: Services,
    pub(super) resolver: Resolver,
    pub(super) admissions: Admissions,
    natives: NativeTools,
}

impl Invoker {
    /// # Errors
    /// When the engine's settings do not fit the machine.
    pub fn start(config: &Config, storage: Storage, clock: Clock, extensions: Extensions) -> Result<Self, Error> {
        let Storage { store, artifacts } = storage;
        let Extensions { natives, policy } = extensions;
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
            admissions: Admissions::new(config),
            natives,
            services: Services {
                retries: RecordRetries::new(store.clone()),
                cancellable: CancellableRuns::default(),
                policy,
                compiled_rules: CompiledRules::default(),
                store,
                recordings,
                executor,
                schemas: SchemaMatcher::start(config)?,
                egress: Egress::new(config.egress.clone(), clock.clone())?,
                base_url: config.base_url.as_str().into(),
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
            admission: self.admissions.clients.clone(),
            inputs: self.admissions.client_inputs.clone(),
            schemas,
            compiler: self.resolver.compiler.clone(),
            limits_max: self.resolver.limits_max,
            clock,
        })
    }

    /// Documents of other hosts that the server itself reads.
    #[must_use]
    pub fn documents(&self) -> Documents {
        Documents::of(&self.services.egress)
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
        self.try_invoke(call, events).await.map_err(|refusal| refusal.error)
    }

    /// Like [`Invoker::invoke`], with the step that refused the call, and with the records of a refused call.
    ///
    /// # Errors
    /// When no input ran, or when a record could not be written.
    pub async fn try_invoke(&self, call: Call, events: EventSender) -> Result<Vec<RunResult>, Refusal> {
        let Self { services, resolver, admissions, .. } = self;
        Steps { services, resolver, admissions }.run(call, events).await
    }

    /// The native tools of the server.
    #[must_use]
    pub const fn native_tools(&self) -> &NativeTools {
        &self.natives
    }

    /// Finds the live tool with a name, for a caller that does not know its id.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn tool_named(&self, principal: &Principal, name: &ToolName) -> Result<Option<ToolId>, Error> {
        let found = self.services.store.tools().find_live_tool(&principal.organization, name).await?;
        Ok(found.map(|tool| tool.id))
    }

    /// Drops what has expired from the caches of the store.
    pub fn drop_expired(&self) {
        self.services.store.drop_expired();
    }

    /// Cancels a run of the principal's organisation: it fails as `cancelled`. Returns `false` when no such run is in
    /// progress on this server.
    #[must_use]
    pub fn cancel(&self, principal: &Principal, run: &RunId) -> bool {
        self.services.cancellable.cancel(&principal.organization, run, &principal.user())
    }

    /// Cancels a run of this server that a user cancelled at another one.
    pub fn cancel_requested(&self, request: &RequestedCancellation) {
        // A run that has ended meanwhile is not cancelled.
        let _ = self.services.cancellable.cancel(&request.organization, &request.run, &request.by);
    }
}
