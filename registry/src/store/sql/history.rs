//! The history of runs: one record, and the rollback of a conversation.

use super::records::{read, select_invocations};
use crate::account::OrganizationId;
use crate::error::Result;
use crate::ids::InvocationId;
use crate::invocation::Invocation;
use crate::principal::Principal;
use crate::store::handle::Store;

const ONE: &str = select_invocations!("WHERE s.organization = $1 AND s.invocation = $2");

const UNLINK: &str = "INSERT INTO inv_unlinked (invocation, organization, unlinked_at, unlinked_by)
    SELECT invocation, organization, $4, $5 FROM inv_started
    WHERE organization = $1 AND conversation_id = $2 AND ($3 IS NULL OR interaction_id = $3)
    ON CONFLICT (invocation) DO NOTHING";

impl Store {
    pub async fn get_invocation(
        &self,
        organization: &OrganizationId,
        invocation: &InvocationId,
    ) -> Result<Option<Invocation>> {
        let query = sqlx::query(ONE).bind(organization.as_str()).bind(invocation.as_str());
        self.recorded(query).await?.as_ref().map(read).transpose()
    }

    /// Removes the ids of a conversation from its records, or from those of one interaction. The records stay in the history.
    /// Returns the number of records.
    pub async fn unlink_invocations(
        &self,
        principal: &Principal,
        conversation_id: &str,
        interaction_id: Option<&str>,
    ) -> Result<u64> {
        let (principal, now) = (principal.clone(), self.0.clock.now());
        let (conversation_id, interaction_id) = (conversation_id.to_owned(), interaction_id.map(str::to_owned));
        self.write(move |connection| {
            Box::pin(async move {
                let query = sqlx::query(UNLINK).bind(principal.organization.as_str()).bind(conversation_id);
                let query = query.bind(interaction_id).bind(now.as_milliseconds()).bind(principal.user.as_str());
                Ok(query.execute(connection).await?.rows_affected())
            })
        })
        .await
    }
}
