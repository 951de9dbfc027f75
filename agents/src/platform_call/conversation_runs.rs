//! The runs of a conversation, for the server's own tools.

use registry::{Error, OrganizationId, RunId, TurnId};

use crate::domain::conversations::RunStatus;
use crate::store::Conversations;

/// The runs of the conversation to whose turn a call belongs.
pub struct ConversationRuns {
    pub(super) conversations: Conversations,
    pub(super) organization: OrganizationId,
    pub(super) turn: TurnId,
}

impl ConversationRuns {
    /// Returns the status of a run of the conversation; `None` for another run.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn find(&self, run: &RunId) -> Result<Option<RunStatus>, Error> {
        self.conversations.run_status(&self.organization, &self.turn, run).await
    }
}
