//! The runs of one call that was admitted. Each step of a run is in a file of its own.

use std::sync::Arc;

use registry::{Admitted, AgentCall, CallerNames, InvocationId, InvocationSource, OperationId, Principal, RawJson};
use tokio_util::sync::CancellationToken;

use super::call_taker::CallTaker;
use super::cancellation::Cancellation;
use super::services::Services;
use super::target::Target;
use crate::call::{CallTree, Conversation, EventSender, ResultPersistence};
use crate::depth::Depth;
use crate::input_documents::InputDocuments;
use crate::interaction::Interaction;
use crate::redact::Redaction;

/// The runs of one call.
pub(super) struct Run<'a> {
    pub services: &'a Services,
    pub redaction: Redaction,
    pub target: &'a Target,
    pub caller: &'a Caller,
    pub conversation: Option<&'a Conversation>,
    pub depth: Depth,
    pub persistence: ResultPersistence,
    /// Takes calls of the runs, when the version declares any.
    pub calls: Option<&'a CallTaker>,
    /// The calls of all runs that the client's call has caused.
    pub tree: CallTree,
    pub admitted: &'a Admitted,
    pub events: &'a EventSender,
}

/// The caller of a tool, as the record has it.
#[derive(Clone)]
pub(super) struct Caller {
    pub principal: Principal,
    pub source: InvocationSource,
    pub agent_call: Option<AgentCall>,
    /// The id of the run of a call with one input; `None` for new ids.
    pub run_id: Option<InvocationId>,
    pub operation: Option<OperationId>,
    /// Cancels the runs when the client goes away.
    pub cancelled: CancellationToken,
    pub interaction: Interaction,
    pub names: CallerNames,
    /// The arguments of a call by another run, without the secrets of that run.
    pub recorded_arguments: Option<Arc<RawJson>>,
}

/// One input whose record has started.
pub(super) struct PendingRun {
    pub index: usize,
    pub id: InvocationId,
    pub documents: InputDocuments,
    pub cancellation: Cancellation,
}
