//! The runs of a conversation, for native tools.

use std::fmt;
use std::sync::Arc;

use futures_util::future::BoxFuture;
use registry::{InvocationId, RunStatus};

use crate::error::Error;

/// Returns the status of a run of the conversation; `None` for another run.
type Find = dyn Fn(InvocationId) -> BoxFuture<'static, Result<Option<RunStatus>, Error>> + Send + Sync;

/// The runs of the conversation of a call.
#[derive(Clone)]
pub struct ConversationRuns(Arc<Find>);

impl ConversationRuns {
    pub fn new(
        find: impl Fn(InvocationId) -> BoxFuture<'static, Result<Option<RunStatus>, Error>> + Send + Sync + 'static,
    ) -> Self {
        Self(Arc::new(find))
    }

    pub fn find(&self, run: InvocationId) -> BoxFuture<'static, Result<Option<RunStatus>, Error>> {
        (self.0)(run)
    }
}

impl fmt::Debug for ConversationRuns {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("ConversationRuns").finish_non_exhaustive()
    }
}
