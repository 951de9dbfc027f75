//! The runs of one call that was admitted. Each step of a run is in a file of its own.

use registry::{Admitted, RunId};

use super::call_taker::CallTaker;
use super::cancellation::Cancellation;
use super::services::Services;
use super::target::Target;
use crate::calls::call::{Call, CallTree, EventSender};
use crate::calls::input_documents::InputDocuments;
use crate::calls::redact::Redaction;

/// The runs of one call.
pub(super) struct Run<'a> {
    pub services: &'a Services,
    pub redaction: Redaction,
    pub target: &'a Target,
    /// The call without its inputs, of which each run takes one.
    pub call: &'a Call,
    /// Takes calls of the runs, when the version declares any.
    pub calls: Option<&'a CallTaker>,
    /// The calls of all runs that the client's call has caused.
    pub tree: CallTree,
    pub admitted: &'a Admitted,
    pub events: &'a EventSender,
}

/// One input whose record has started.
pub(super) struct PendingRun {
    pub index: usize,
    pub id: RunId,
    pub documents: InputDocuments,
    pub cancellation: Cancellation,
}
