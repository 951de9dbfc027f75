//! Trial runs: runs without a record, for checks and local tests.
//!
//! A trial passes the schema, the sandbox, the egress rules, the limits and the output rules like every run. Only mocks
//! answer its requests, unless its author lets it reach the declared hosts.

use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use registry::{
    Admission, Clock, InvocationMode, OrganizationId, RunId, SecretValue, Timestamp, Variables, VersionSettings,
};
use serde_json::Value;

use crate::calls::call::{Input, ResultPersistence, UNPUBLISHED};
use crate::calls::caller::Conversation;
use crate::calls::input_bytes::InputBytes;
use crate::calls::input_documents::InputDocuments;
use crate::calls::output::{self, OutputCheck};
use crate::calls::redact::Redactor;
use crate::calls::run_documents::{self, Metadata};
use crate::calls::schema::{self, InputSchema, SchemaMatcher};
use crate::calls::tool_mocks::{ToolMock, describe, with_tool_mocks};
use crate::config::Config;
use crate::depth::Depth;
use crate::error::{Error, SchemaViolation};
use crate::interaction::Interaction;
use crate::limits::Limits;
use crate::sandbox::code::{CodeCache, CodeStore};
use crate::sandbox::compile::Compiler;
use crate::sandbox::egress::{CompiledMocks, Egress, EgressPolicy, EgressRules, Mocks, Simulation};
use crate::sandbox::execution::{Code, Execution, RunDocuments, compute_group};
use crate::sandbox::executor::Executor;
use crate::sandbox::outcome::{self, Outcome};
use crate::sandbox::ports::{EventSink, HttpErrorCode, HttpSender, Ports};
use crate::sandbox::tape::TapeMode;
use crate::sandbox::tool_call::ToolCall;
use crate::text::cut;

/// Requests without a mock that are listed.
const UNANSWERED_MAX: usize = 5;
const UNANSWERED_BYTES_MAX: usize = 500;

/// Runs trials. Clones share the queue and the processes.
#[derive(Clone)]
pub struct TrialRunner {
    services: TrialServices,
    /// Resolves no name. Only mocks answer requests.
    sealed: Egress,
    /// Sends requests, for trials that may reach hosts.
    open: Option<Egress>,
}

/// Services that trials share with the other runs of a process.
#[derive(Clone)]
pub(crate) struct TrialServices {
    pub executor: Executor,
    pub admission: Admission,
    pub inputs: InputBytes,
    pub schemas: SchemaMatcher,
    pub compiler: Compiler,
    pub limits_max: Limits,
    pub clock: Clock,
}

/// A tool, and the input and settings of one run.
pub struct Trial<'a> {
    pub organization: &'a OrganizationId,
    pub tool_name: &'a str,
    pub code: Code,
    pub settings: &'a VersionSettings,
    pub input_schema: &'a InputSchema,
    pub input: Input,
    /// Variables that the version requires.
    pub variables: Variables,
    pub mocks: &'a Mocks,
    /// Answers to calls of other tools. `None` for a run that may call none.
    pub tool_mocks: Option<&'a [ToolMock]>,
    /// Start of the wall clock; the real time when it is `None`.
    pub clock: Option<Timestamp>,
    pub conversation: Option<Conversation>,
    pub events: EventSink,
    /// Whether requests go to the declared hosts, if the settings of the process permit any.
    pub reaches_hosts: bool,
}

/// The result of a trial.
pub struct TrialResult {
    /// The outcome. An input that violates the schema fails as `input_schema`.
    pub outcome: Outcome,
    pub duration: Duration,
    /// Text that the tool printed.
    pub logs: String,
    /// Requests that no mock answered, such as `GET https://api.example.com/`: the first ones, redacted.
    pub unanswered: Vec<String>,
    /// The outcome without secrets. Like the logs, it is redacted before it is cut at its bounds.
    pub redacted_outcome: Outcome,
    /// The printed text without secrets.
    pub redacted_logs: String,
    redactor: Redactor,
}

impl TrialResult {
    /// A text without the run's secrets and sensitive user variables.
    #[must_use]
    pub fn redacted(&self, text: String) -> String {
        self.redactor.text(text)
    }

    /// A value without secrets in its texts and names.
    #[must_use]
    pub fn redacted_value(&self, value: Value) -> Value {
        self.redactor.value(value)
    }
}

impl TrialRunner {
    /// A trial runner for a process without an invoker. Its trials can reach the hosts that the settings permit.
    ///
    /// # Errors
    /// When the engine's settings do not fit the machine.
    pub fn start(config: &Config, clock: Clock) -> Result<Self, Error> {
        let codes = CodeStore::new(CodeCache::open(&config.cache_dir, config.cache_key)?);
        let executor = Executor::start(config, codes.clone())?;
        let open = Egress::new(config.egress.clone(), clock.clone())?;
        let sealed = Self::new(TrialServices {
            executor,
            admission: Admission::new("runs", config.runs),
            inputs: InputBytes::new(config.input_bytes_max),
            schemas: SchemaMatcher::start(config)?,
            compiler: Compiler::new(&config.compiler, codes),
            limits_max: config.limits_max,
            clock,
        })?;
        Ok(Self { open: Some(open), ..sealed })
    }

    pub(crate) fn new(services: TrialServices) -> Result<Self, Error> {
        Ok(Self { sealed: Egress::sealed(services.clock.clone())?, open: None, services })
    }

    /// The compiler that prepares components for trials.
    #[must_use]
    pub const fn compiler(&self) -> &Compiler {
        &self.services.compiler
    }

    /// The schema matcher, which builds use too.
    #[must_use]
    pub const fn schemas(&self) -> &SchemaMatcher {
        &self.services.schemas
    }

    /// Runs one input. The component must have been compiled.
    ///
    /// # Errors
    /// When the queue is full, or the run fails because of a fault of the host.
    pub async fn run(&self, mut trial: Trial<'_>) -> Result<TrialResult, Error> {
        let redactor = build_redactor(&trial);
        let TrialServices { executor, admission, inputs, schemas, limits_max, .. } = &self.services;
        let _held = inputs.hold(trial.organization, trial.input.bytes())?;
        let (organization, inputs) = (trial.organization, vec![trial.input.input_parameters.clone()]);
        if let Err(error) = schemas.validate(organization, trial.input_schema, inputs).await {
            let Error::InvalidInput { violations } = error else { return Err(error) };
            return Ok(TrialResult::without_run(&violations, redactor));
        }
        if let Some(spelled) = trial.input_schema.spell_integers(&trial.input.input_parameters).await? {
            trial.input.input_parameters = spelled;
        }
        let output_schema =
            trial.settings.output_schema_of(&trial.input.input_parameters.members().unwrap_or_default());
        let output_schema = schema::compile(output_schema).await?;
        let limits = Limits::of(trial.settings, limits_max);
        let admitted = admission.admit(organization, 1)?;
        let _permit = admitted.permit().await.ok_or_else(|| Error::internal("the runner is shutting down"))?;
        let unanswered = Arc::<Mutex<Vec<String>>>::default();
        let tools = trial.tool_mocks.map(|mocks| (&trial.settings.calls, mocks));
        let (execution, mut ports) = self.prepare(trial, limits)?;
        if let Some((declared, mocks)) = tools {
            ports.http = with_tool_mocks(ports.http, declared, mocks);
        }
        ports.http = note_unanswered(ports.http, redactor.clone(), unanswered.clone());
        let executed = executor.run(Box::new(execution), ports).await?;
        let unanswered = std::mem::take(&mut *unanswered.lock());
        let check = OutputCheck { schemas, organization, schema: output_schema.as_ref() };
        let outcome = check.apply(executed.outcome).await;
        let (outcome, _) = output::apply_limits(outcome, ResultPersistence::Ephemeral, limits.output_characters);
        let (duration, printed) = (executed.duration, executed.logs);
        let (redacted_outcome, redacted_logs) = (redactor.outcome(outcome.clone()), redactor.logs(printed.clone()));
        let (outcome, logs) = (outcome::bound(outcome), Redactor::Nothing.logs(printed));
        Ok(TrialResult { outcome, duration, logs, unanswered, redacted_outcome, redacted_logs, redactor })
    }

    fn prepare(&self, trial: Trial<'_>, limits: Limits) -> Result<(Execution, Ports), Error> {
        let Trial { organization, tool_name, code, mut variables, clock, conversation, events, input, .. } = trial;
        let now = clock.unwrap_or_else(|| self.services.clock.now());
        let InputDocuments { mode, tool_input, user_variables, .. } = InputDocuments::of(&input);
        let open = self.open.as_ref().filter(|_| trial.reaches_hosts);
        let is_simulated = open.is_none() || mode == InvocationMode::ConversationSimulation;
        let mocks = || CompiledMocks::new(trial.mocks).into();
        let session = open.unwrap_or(&self.sealed).open_session(EgressRules {
            organization: organization.clone(),
            policy: EgressPolicy::take(trial.settings, &mut variables),
            limits,
            depth: Depth::default(),
            simulation: is_simulated.then(|| Simulation { mocks: mocks(), lookup: None, is_sealed: open.is_none() }),
            records_responses: false,
        });
        let metadata = Metadata {
            organization,
            invocation_mode: mode.as_str(),
            invocation_id: &RunId::new(&self.services.clock),
            tool_id: "",
            tool_name,
            version: UNPUBLISHED.to_string(),
            deadline_ms: now.after(limits.wall()).as_milliseconds(),
        };
        let documents = RunDocuments {
            tool_input,
            metadata: run_documents::write_json(&metadata),
            config: run_documents::write_config(&variables),
            conversation: run_documents::write_json(&conversation),
            user_variables,
        };
        let tape_mode = clock.map_or(TapeMode::Off, build_clock_mode);
        let group = compute_group(organization);
        let execution = Execution { code, documents, limits, group, tape_mode, interaction: Interaction::default() };
        Ok((execution, Ports { events, http: session.build_sender() }))
    }
}

/// Sets the wall clock of a run. Guests cannot represent a time before 1970.
fn build_clock_mode(clock: Timestamp) -> TapeMode {
    TapeMode::SetClock { clock_ms: u64::try_from(clock.as_milliseconds()).unwrap_or_default() }
}

impl TrialResult {
    fn without_run(violations: &[SchemaViolation], redactor: Redactor) -> Self {
        let line = |violation: &SchemaViolation| format!("{}: {}", violation.pointer, violation.message);
        let message = violations.iter().map(line).collect::<Vec<_>>().join("; ");
        let outcome = outcome::failed("input_schema", message);
        Self {
            redacted_outcome: redactor.outcome(outcome.clone()),
            outcome,
            duration: Duration::ZERO,
            logs: String::new(),
            unanswered: Vec::new(),
            redacted_logs: String::new(),
            redactor,
        }
    }
}

/// Lists the requests that no mock answers.
fn note_unanswered(sender: HttpSender, redactor: Redactor, unanswered: Arc<Mutex<Vec<String>>>) -> HttpSender {
    Arc::new(move |request| {
        // Redacted before it is cut, since a part of a secret would not be found.
        let call = ToolCall::of(&request).map(|call| describe(&call));
        let name = redactor.text(call.unwrap_or_else(|| format!("{} {}", request.method, request.url)));
        let name = cut(name, UNANSWERED_BYTES_MAX);
        let (answer, unanswered) = (sender(request), unanswered.clone());
        Box::pin(async move {
            let answer = answer.await;
            if answer.as_ref().is_err_and(|error| error.code == HttpErrorCode::Simulated) {
                let mut unanswered = unanswered.lock();
                if unanswered.len() < UNANSWERED_MAX {
                    unanswered.push(name);
                }
            }
            answer
        })
    })
}

fn build_redactor(trial: &Trial<'_>) -> Redactor {
    let sensitive = trial.input.sensitive_user_variables.values().map(String::as_str);
    Redactor::of(trial.variables.secrets.values().map(SecretValue::expose).chain(sensitive))
}
