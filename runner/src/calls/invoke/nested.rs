//! Calls of other tools that a run makes. Each is a run of its own, which takes the same steps as every other call, with the
//! rights, the mode and the user variables of the run that makes it.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use registry::{CallUse, Constraint, InvocationMode, RawJson, SecretValue, Store, ToolId, ToolName};
use serde::Deserialize;
use tokio::sync::Semaphore;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::call_taker::CallTaker;
use crate::calls::call::{Call, CallOrigin, CallTree, Input, ParentRun, ResultPersistence, RunResult, Subject};
use crate::calls::caller::ToolCaller;
use crate::calls::redact::Redactor;
use crate::depth::Depth;
use crate::error::{Error, ErrorKind};
use crate::sandbox::outcome::Outcome;
use crate::sandbox::ports::{HttpAnswer, HttpError, HttpErrorCode, HttpResponse, HttpSender};
use crate::sandbox::tool_call::{ToolCall, answer};

/// The error of a call whose calling run dropped it or ended.
const CANCELLED: &str = "cancelled";
/// Bytes of the arguments of a call. They take up to eighty times as much memory while they are matched with a schema.
const ARGUMENTS_BYTES_MAX: usize = 256 << 10;
/// Calls of one run at the same time. Further ones wait.
pub(super) const PARALLEL_MAX: usize = 8;
/// Time in which cancelled calls end before the calling run does not wait for them any more.
const ENDS_WITHIN: Duration = Duration::from_secs(2);

/// The calls of one run. Clones share one state.
#[derive(Clone)]
pub(super) struct NestedCalls(Arc<CallingRun>);

/// The run that makes calls, with what its calls inherit.
pub(super) struct CallingRun {
    pub take: CallTaker,
    pub store: Store,
    /// The tools that the version declares, with the versions that it accepts.
    pub declared: BTreeMap<ToolName, Constraint>,
    /// The caller of its calls.
    pub caller: ToolCaller,
    /// Cancels the run, and with it its calls.
    pub cancelled: CancellationToken,
    pub mode: InvocationMode,
    /// The user variables of the run, as the tool receives them.
    pub user_variables: String,
    /// The depth of its calls.
    pub depth: Depth,
    pub tree: CallTree,
    /// Redacts texts of the ledger, and the arguments of calls for their records.
    pub redactor: Redactor,
    /// The secrets of the run, and the sensitive user variables that it received.
    pub secrets: Vec<SecretValue>,
    pub parallel: Semaphore,
    pub used: Mutex<UsedCalls>,
    /// The calls in progress.
    pub running: TaskTracker,
}

/// The calls of a run, as its ledger has them.
#[derive(Default, Clone)]
pub(super) struct UsedCalls {
    pub entries: Vec<CallUse>,
    /// Calls beyond the bound of the tree. They have no entries.
    pub refused: u64,
}

/// The user variables of a run, as JSON.
#[derive(Default, Deserialize)]
struct InheritedVariables {
    nonsensitive: BTreeMap<String, String>,
    sensitive: BTreeMap<String, String>,
}

impl NestedCalls {
    pub fn new(run: CallingRun) -> Self {
        Self(Arc::new(run))
    }

    /// Adds the calls of tools to a sender of HTTP requests.
    pub fn with(&self, http: HttpSender) -> HttpSender {
        let calls = self.clone();
        Arc::new(move |request| match ToolCall::of(&request) {
            None => http(request),
            Some(call) => {
                let calls = calls.clone();
                Box::pin(async move { calls.call(call).await })
            }
        })
    }

    /// Waits a moment for cancelled calls, and returns the ledger entries of all calls. Calls in progress count as cancelled.
    pub async fn close_ledger(&self) -> UsedCalls {
        self.0.running.close();
        if timeout(ENDS_WITHIN, self.0.running.wait()).await.is_err() {
            tracing::warn!("calls of a run that has ended are still running");
        }
        self.0.used.lock().clone()
    }

    async fn call(&self, call: ToolCall) -> HttpAnswer {
        let run = &self.0;
        let Some(entry) = run.begin(&call.name) else {
            let message = format!("a call and the runs that it causes may call at most {} tools", CallTree::CALLS_MAX);
            return Err(HttpError::new(HttpErrorCode::Budget, message));
        };
        self.take(call, entry).await.map_err(|(code, error)| {
            if let Some(used) = run.used.lock().entries.get_mut(entry) {
                used.is_refused = true;
                used.error = Some(code.to_owned());
            }
            error
        })
    }

    /// Takes a call through all steps, or returns the code of a refusal with the error for the tool. A call whose future is dropped
    /// is cancelled. Its task goes on, so that its record and the entry of the ledger are written all the same.
    async fn take(&self, call: ToolCall, entry: usize) -> Result<HttpResponse, (&'static str, HttpError)> {
        let run = &self.0;
        let _slot = run.parallel.acquire().await.map_err(|_| explain_refusal(&Error::internal("the run has ended")))?;
        let (tool, constraint) = run.find(&call.name).await?;
        let input = run.read_input(&call.arguments)?;
        let parent = run.build_parent(&input).await.map_err(|error| explain_refusal(&error))?;
        let cancelled = run.cancelled.child_token();
        let _cancels_when_dropped = cancelled.clone().drop_guard();
        let call = run.call(Subject::Version { tool, constraint }, parent, input, cancelled);
        let (taken, calling) = ((run.take)(call), run.clone());
        let taken = run.running.spawn(async move {
            let mut results = taken.await.map_err(|refusal| explain_refusal(&refusal.error))?;
            let result = results.pop().ok_or_else(|| explain_refusal(&Error::internal("a call has no result")))?;
            Ok(calling.record_end(entry, result))
        });
        taken.await.map_err(|error| explain_refusal(&Error::internal(error.to_string())))?
    }
}

impl CallingRun {
    /// Adds an entry to the ledger, and returns its index. `None` beyond the bound of the tree.
    fn begin(&self, name: &str) -> Option<usize> {
        let mut used = self.used.lock();
        if !self.tree.admit_another() {
            used.refused += 1;
            return None;
        }
        // The tool chooses the text, which need not be a name.
        let tool = ToolName::parse(name).ok().filter(|name| self.declared.contains_key(name));
        let tool = tool.map(|name| name.to_string()).unwrap_or_default();
        used.entries.push(CallUse { tool, error: Some(CANCELLED.to_owned()), ..CallUse::default() });
        Some(used.entries.len() - 1)
    }

    /// Writes the end of a call to the ledger, and returns the answer for the tool.
    fn record_end(&self, entry: usize, result: RunResult) -> HttpResponse {
        let RunResult { invocation_id, outcome, duration_ms, version, total, .. } = result;
        let (error, answer) = match outcome {
            Outcome::Succeeded { output } => (None, answer(Ok(output))),
            Outcome::Failed { exception_type, exception_message, .. } => {
                (Some(self.redactor.text(exception_type.clone())), answer(Err((exception_type, exception_message))))
            }
        };
        if let Some(used) = self.used.lock().entries.get_mut(entry) {
            *used = CallUse {
                tool: std::mem::take(&mut used.tool),
                version: version.map(|version| version.to_string()),
                invocation_id: Some(invocation_id),
                error,
                is_refused: false,
                duration_ms,
                total,
            };
        }
        answer
    }

    /// Finds a declared tool of the organisation.
    async fn find(&self, name: &str) -> Result<(ToolId, Constraint), (&'static str, HttpError)> {
        let denied = |code, message: String| (code, HttpError::new(HttpErrorCode::Denied, message));
        let declared = ToolName::parse(name).ok().and_then(|name| self.declared.get_key_value(&name));
        let Some((name, constraint)) = declared else {
            return Err(denied("undeclared", "`calls` of the version does not list this tool".to_owned()));
        };
        let found = self.store.tools().find_live_tool(&self.caller.principal.organization, name).await;
        match found.map_err(|error| explain_refusal(&error.into()))? {
            Some(tool) => Ok((tool.id, constraint.clone())),
            None => Err(denied("not_found", format!("there is no tool {name}"))),
        }
    }

    fn read_input(&self, arguments: &str) -> Result<Input, (&'static str, HttpError)> {
        if arguments.len() > ARGUMENTS_BYTES_MAX {
            let message = format!("the arguments of a call may have at most {ARGUMENTS_BYTES_MAX} bytes");
            return Err(("input_schema", HttpError::new(HttpErrorCode::InvalidRequest, message)));
        }
        let input_parameters = RawJson::parse_object(arguments).map_err(|error| {
            let message = format!("the arguments are not a JSON object: {error}");
            ("input_schema", HttpError::new(HttpErrorCode::InvalidRequest, message))
        })?;
        let variables: InheritedVariables = serde_json::from_str(&self.user_variables).unwrap_or_default();
        Ok(Input {
            input_parameters,
            invocation_mode: self.mode,
            nonsensitive_user_variables: variables.nonsensitive,
            sensitive_user_variables: variables.sensitive,
        })
    }

    async fn build_parent(&self, input: &Input) -> Result<ParentRun, Error> {
        let recorded = self.redactor.arguments(input.input_parameters.clone()).await?;
        let (tree, secrets) = (self.tree.clone(), self.secrets.clone());
        Ok(ParentRun { tree, secrets, recorded_arguments: Arc::new(recorded) })
    }

    fn call(&self, subject: Subject, parent: ParentRun, input: Input, cancelled: CancellationToken) -> Call {
        // A new call has neither a confirmation that its caller asks for, which is about the caller's own calls, nor answers of a
        // client, who knows the tool that it called and would not know which tool asks.
        Call {
            result_persistence: ResultPersistence::Ephemeral,
            depth: self.depth,
            origin: CallOrigin::Run(parent),
            cancelled,
            ..Call::new(subject, self.caller.clone(), vec![input])
        }
    }
}

/// The code of a refusal, and the error for the tool. Faults of the server keep their texts to themselves.
fn explain_refusal(error: &Error) -> (&'static str, HttpError) {
    let code = match error {
        Error::InvalidInput { .. } => HttpErrorCode::InvalidRequest,
        Error::LoopDetected | Error::Overloaded { .. } | Error::TooManyRuns { .. } | Error::InputsFull { .. } => {
            HttpErrorCode::Budget
        }
        error if matches!(error.kind(), ErrorKind::Internal) => {
            tracing::error!(%error, "a call of a tool failed because of a fault of the host");
            return (
                error.code(),
                HttpError::new(HttpErrorCode::Protocol, "the call failed because of a fault of the server"),
            );
        }
        _ => HttpErrorCode::Denied,
    };
    (error.code(), HttpError::new(code, error.to_string()))
}
