//! Calls of other tools that a run makes. Each is a run of its own, which takes the same steps as every other call, with the
//! rights, the mode and the user variables of the run that makes it.

use std::collections::BTreeMap;
use std::sync::Arc;

use parking_lot::Mutex;
use registry::{AgentCall, CallUse, Constraint, InvocationMode, Store, ToolId, ToolName};
use serde::Deserialize;
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use super::call_taker::CallTaker;
use super::run::Caller;
use crate::call::{Call, CallOrigin, CallTree, Conversation, Input, ParentRun, ResultPersistence, RunResult, Subject};
use crate::depth::Depth;
use crate::error::{Error, ErrorKind};
use crate::interaction::Interaction;
use crate::outcome::Outcome;
use crate::ports::{HttpAnswer, HttpError, HttpErrorCode, HttpSender};
use crate::tool_call::{ToolCall, answer};

/// The error of a call whose calling run dropped it or ended.
const CANCELLED: &str = "cancelled";

/// The calls of one run. Clones share one state.
#[derive(Clone)]
pub(super) struct NestedCalls(Arc<CallingRun>);

/// The run that makes calls, with what its calls inherit.
pub(super) struct CallingRun {
    pub take: CallTaker,
    pub store: Store,
    /// The tools that the version declares, with the versions that it accepts.
    pub declared: BTreeMap<ToolName, Constraint>,
    pub caller: Caller,
    pub conversation: Option<Conversation>,
    pub mode: InvocationMode,
    /// The user variables of the run, as the tool receives them.
    pub user_variables: String,
    pub depth: Depth,
    pub tree: CallTree,
    pub used: Mutex<Vec<CallUse>>,
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

    /// Ledger entries of all calls. Calls in flight count as cancelled.
    pub fn ledger(&self) -> Vec<CallUse> {
        self.0.used.lock().clone()
    }

    async fn call(&self, call: ToolCall) -> HttpAnswer {
        let entry = self.begin(&call.name);
        match self.take(call).await {
            Ok(result) => Ok(self.ended(entry, result)),
            Err((code, error)) => {
                let mut used = self.0.used.lock();
                used[entry].is_refused = true;
                used[entry].error = Some(code.to_owned());
                Err(error)
            }
        }
    }

    /// Adds an entry to the ledger, and returns its index.
    fn begin(&self, name: &str) -> usize {
        let mut used = self.0.used.lock();
        // The tool chooses the text, which need not be a name.
        let tool = ToolName::parse(name).map(|name| name.to_string()).unwrap_or_default();
        used.push(CallUse { tool, error: Some(CANCELLED.to_owned()), ..CallUse::default() });
        used.len() - 1
    }

    /// Takes a call through all steps, or returns the code of a refusal with the error for the tool. A call whose future is dropped
    /// is cancelled, and its record is written all the same.
    async fn take(&self, call: ToolCall) -> Result<RunResult, (&'static str, HttpError)> {
        let run = &self.0;
        if !run.tree.admits_another() {
            let message = format!("a call and the runs that it causes may call at most {} tools", CallTree::CALLS_MAX);
            return Err(("budget", HttpError::new(HttpErrorCode::Budget, message)));
        }
        let (tool, constraint) = run.find(&call.name).await?;
        let input = run.input(&call.arguments)?;
        let cancelled = run.caller.cancelled.child_token();
        let _cancels_when_dropped = cancelled.clone().drop_guard();
        let call = run.call(Subject::Version { tool, constraint }, input, cancelled);
        let taken = tokio::spawn((run.take)(call)).await;
        let taken = taken.map_err(|error| refused(&Error::internal(error.to_string())))?;
        let mut results = taken.map_err(|refusal| refused(&refusal.error))?;
        results.pop().ok_or_else(|| refused(&Error::internal("a call has no result")))
    }

    fn ended(&self, entry: usize, result: RunResult) -> crate::ports::HttpResponse {
        let RunResult { invocation_id, outcome, duration_ms, version, total, .. } = result;
        let (error, answer) = match outcome {
            Outcome::Succeeded { output } => (None, answer(Ok(output))),
            Outcome::Failed { exception_type, exception_message, .. } => {
                (Some(exception_type.clone()), answer(Err((exception_type, exception_message))))
            }
        };
        let used = &mut self.0.used.lock()[entry];
        let version = version.map(|version| version.to_string());
        *used = CallUse {
            tool: std::mem::take(&mut used.tool),
            version,
            invocation_id: Some(invocation_id),
            error,
            duration_ms,
            total,
            is_refused: false,
        };
        answer
    }
}

impl CallingRun {
    /// Finds a declared tool of the organisation.
    async fn find(&self, name: &str) -> Result<(ToolId, Constraint), (&'static str, HttpError)> {
        let denied = |code, message: String| (code, HttpError::new(HttpErrorCode::Denied, message));
        let declared = ToolName::parse(name).ok().and_then(|name| self.declared.get_key_value(&name));
        let Some((name, constraint)) = declared else {
            return Err(denied("undeclared", "`calls` of the version does not list this tool".to_owned()));
        };
        let found = self.store.find_live_tool(&self.caller.principal.organization, name).await;
        match found.map_err(|error| refused(&error.into()))? {
            Some(tool) => Ok((tool.id, constraint.clone())),
            None => Err(denied("not_found", format!("there is no tool {name}"))),
        }
    }

    fn input(&self, arguments: &str) -> Result<Input, (&'static str, HttpError)> {
        let input_parameters: Map<String, Value> = serde_json::from_str(arguments).map_err(|error| {
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

    fn call(&self, subject: Subject, input: Input, cancelled: CancellationToken) -> Call {
        let Caller { principal, source, agent_call, .. } = self.caller.clone();
        // The turn presented the calling tool. The log of its conversation has no other calls.
        let agent_call = agent_call.map(|call| AgentCall { turn: None, ..call });
        Call {
            subject,
            principal,
            inputs: vec![input],
            source,
            agent_call,
            pinned: Vec::new(),
            result_persistence: ResultPersistence::Ephemeral,
            conversation: self.conversation.clone(),
            depth: self.depth.of_calls(),
            origin: CallOrigin::Run(ParentRun { tree: self.tree.clone() }),
            operation: None,
            cancelled,
            // A client knows the tool that it called, and would not know which tool asks.
            interaction: Interaction::default(),
        }
    }
}

/// The code of a refusal, and the error for the tool. Faults of the server keep their texts to themselves.
fn refused(error: &Error) -> (&'static str, HttpError) {
    let code = match error {
        Error::InvalidInput { .. } => HttpErrorCode::InvalidRequest,
        Error::LoopDetected | Error::Overloaded { .. } | Error::TooManyRuns { .. } => HttpErrorCode::Budget,
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
