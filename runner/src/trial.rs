//! A run that nobody recorded and that reaches nothing: how checks and local tests run a tool.
//!
//! It passes what every run passes beside its record: the schema, the sandbox in its process, the host's rules for
//! requests, the bounds and the rule of outputs. Requests are answered by mocks alone.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use registry::{Clock, InvocationId, OrganizationId, SecretValue, Timestamp, Variables, VersionSettings};
use serde_json::Value;

use crate::admission::Admission;
use crate::cache::Compiled;
use crate::call::ResultPersistence;
use crate::codes::Codes;
use crate::documents::Documents;
use crate::execution::group_of;
use crate::executor::Executor;
use crate::host::variables::{self, Metadata};
use crate::invoke::outlet::Outlet;
use crate::invoke::{UNPUBLISHED, compiled, refused};
use crate::outcome::cut;
use crate::redact::Redactor;
use crate::{
    Code, Compiler, Config, Conversation, Depth, Egress, Error, EventSink, Execution, Gate, HttpErrorCode, HttpSender,
    Input, InputSchema, InvocationMode, Limits, Mocks, Outcome, Pass, Ports, Simulation, Standins, Taping, shape,
};

/// Requests without a mock that are named; their author mends one after the other.
const UNANSWERED_MAX: usize = 5;
const UNANSWERED_BYTES_MAX: usize = 500;

/// Runs trials. Clones share processes and places.
#[derive(Clone)]
pub struct Trials {
    executor: Executor,
    admission: Admission,
    compiler: Compiler,
    egress: Egress,
    limits_max: Limits,
    clock: Clock,
}

/// A tool, and all that one run of it is given.
pub struct Trial<'a> {
    pub organization: &'a OrganizationId,
    pub tool_name: &'a str,
    pub code: Code,
    pub settings: &'a VersionSettings,
    pub input_schema: &'a InputSchema,
    pub input: Input,
    /// Those that the version declares.
    pub variables: Variables,
    pub mocks: &'a Mocks,
    /// Where its time of day begins; at the world's when nothing is said.
    pub clock: Option<Timestamp>,
    pub conversation: Option<Conversation>,
    pub events: EventSink,
}

/// How a trial ended.
pub struct Tried {
    /// An input that misses the schema failed as `input_schema`.
    pub outcome: Outcome,
    pub duration: Duration,
    /// What the tool printed.
    pub logs: String,
    /// Requests for which no mock stood, such as `GET https://api.example.com/`; the first few, redacted.
    pub unanswered: Vec<String>,
    redactor: Redactor,
}

impl Tried {
    /// A text without the run's secrets and sensitive user variables.
    #[must_use]
    pub fn redacted(&self, text: String) -> String {
        self.redactor.text(text)
    }

    /// A value without them, in its texts and names.
    #[must_use]
    pub fn redacted_value(&self, value: Value) -> Value {
        self.redactor.value(value)
    }

    /// How it ended, without them.
    #[must_use]
    pub fn redacted_outcome(&self) -> Outcome {
        self.redactor.outcome(self.outcome.clone())
    }
}

impl Trials {
    /// Trials of a process that has no invoker.
    ///
    /// # Errors
    /// When the engine's settings do not fit the machine.
    pub fn start(config: &Config, clock: Clock) -> Result<Self, Error> {
        let codes = Codes::new(Compiled::open(&config.cache_dir, config.cache_key)?);
        let executor = Executor::start(config, codes.clone())?;
        let compiler = Compiler::new(&config.compiler, codes);
        Self::new(executor, Admission::new("runs", config.runs), compiler, config.limits_max, clock)
    }

    pub(crate) fn new(
        executor: Executor,
        admission: Admission,
        compiler: Compiler,
        limits_max: Limits,
        clock: Clock,
    ) -> Result<Self, Error> {
        Ok(Self { executor, admission, compiler, egress: Egress::sealed(clock.clone())?, limits_max, clock })
    }

    /// What makes components ready for trials.
    #[must_use]
    pub const fn compiler(&self) -> &Compiler {
        &self.compiler
    }

    /// Runs one input. The component's code must have been made ready.
    ///
    /// # Errors
    /// When too much waits, or the run fails on the host's side.
    pub async fn run(&self, trial: Trial<'_>) -> Result<Tried, Error> {
        let redactor = redactor(&trial);
        if let Err(error) = trial.input_schema.validate(vec![trial.input.input_parameters.clone()]).await {
            let Error::InvalidInput { misfits } = error else { return Err(error) };
            let said: Vec<_> = misfits.iter().map(|misfit| format!("{}: {}", misfit.pointer, misfit.message)).collect();
            return Ok(Tried::without_run(Outcome::failed("input_schema", said.join("; ")), redactor));
        }
        let output = compiled(trial.settings.output_schema.as_ref()).await?;
        let limits = Limits::of(trial.settings, &self.limits_max);
        let admitted = self.admission.admit(trial.organization, 1).map_err(refused)?;
        let _place = admitted.place().await.ok_or_else(|| Error::internal("the runner is shutting down"))?;
        let unanswered = Arc::<Mutex<Vec<String>>>::default();
        let (execution, mut ports) = self.prepare(trial, limits)?;
        ports.http = noting(ports.http, redactor.clone(), unanswered.clone());
        let executed = self.executor.run(Box::new(execution), ports).await?;
        let unanswered = std::mem::take(&mut *unanswered.lock().unwrap_or_else(PoisonError::into_inner));
        let outcome = shape::promised(executed.outcome, output.as_ref()).await?;
        let (outcome, _) = shape::shape(outcome, ResultPersistence::Ephemeral, limits.output_characters);
        Ok(Tried { outcome, duration: executed.duration, logs: executed.logs, unanswered, redactor })
    }

    fn prepare(&self, trial: Trial<'_>, limits: Limits) -> Result<(Execution, Ports), Error> {
        let Trial {
            organization,
            tool_name,
            code,
            settings,
            mut variables,
            mocks,
            clock,
            conversation,
            events,
            input,
            ..
        } = trial;
        let now = clock.unwrap_or_else(|| self.clock.now());
        let outlet = Outlet::take(settings, &mut variables);
        let gate = self.gate(organization, outlet, limits, Standins::new(mocks));
        let Documents { mode, tool_input, user_variables, .. } = Documents::of(&input)?;
        let execution = Execution {
            code,
            tool_input,
            metadata: self.metadata(organization, tool_name, mode, deadline(now, &limits)),
            config: variables::config(&variables),
            conversation: variables::conversation(conversation.as_ref()),
            user_variables,
            limits,
            group: group_of(organization),
            taping: clock.map_or(Taping::Off, set_to),
        };
        Ok((execution, Ports { events, http: gate.sender() }))
    }

    fn gate(&self, organization: &OrganizationId, outlet: Outlet, limits: Limits, standins: Standins) -> Gate {
        self.egress.gate(Pass {
            organization: organization.clone(),
            declared: outlet.declared,
            secrets: outlet.secrets,
            limits,
            depth: Depth::default(),
            simulation: Some(Simulation { standins: standins.into(), recall: None, is_sealed: true }),
            is_heard: false,
        })
    }

    fn metadata(
        &self,
        organization: &OrganizationId,
        tool_name: &str,
        mode: InvocationMode,
        deadline: Timestamp,
    ) -> String {
        variables::metadata(&Metadata {
            organization,
            invocation_mode: mode.as_str(),
            invocation_id: &InvocationId::new(&self.clock),
            tool_id: "",
            tool_name,
            version: UNPUBLISHED.to_string(),
            deadline_ms: deadline.as_milliseconds(),
        })
    }
}

fn deadline(now: Timestamp, limits: &Limits) -> Timestamp {
    now.after(Duration::from_millis(limits.wall_ms))
}

/// Guests know no time before 1970.
fn set_to(clock: Timestamp) -> Taping {
    Taping::Set { clock_ms: u64::try_from(clock.as_milliseconds()).unwrap_or_default() }
}

impl Tried {
    fn without_run(outcome: Outcome, redactor: Redactor) -> Self {
        Self { outcome, duration: Duration::ZERO, logs: String::new(), unanswered: Vec::new(), redactor }
    }
}

/// Notes the requests that no mock answered.
fn noting(sender: HttpSender, redactor: Redactor, unanswered: Arc<Mutex<Vec<String>>>) -> HttpSender {
    Arc::new(move |request| {
        // Before it is cut, since half a secret would not be found.
        let name = redactor.text(format!("{} {}", request.method, request.url));
        let name = cut(name, UNANSWERED_BYTES_MAX);
        let (answer, unanswered) = (sender(request), unanswered.clone());
        Box::pin(async move {
            let answer = answer.await;
            if answer.as_ref().is_err_and(|error| error.code == HttpErrorCode::Simulated) {
                let mut unanswered = unanswered.lock().unwrap_or_else(PoisonError::into_inner);
                if unanswered.len() < UNANSWERED_MAX {
                    unanswered.push(name);
                }
            }
            answer
        })
    })
}

fn redactor(trial: &Trial<'_>) -> Redactor {
    let sensitive = trial.input.sensitive_user_variables.values().map(String::as_str);
    Redactor::of(trial.variables.secrets.values().map(SecretValue::expose).chain(sensitive))
}
