//! The history of runs: one record, and the rollback of a conversation or simulation.

use super::records::{read, select_invocations};
use crate::account::OrganizationId;
use crate::error::Result;
use crate::ids::InvocationId;
use crate::invocation::Invocation;
use crate::principal::Principal;
use crate::store::handle::Store;

const ONE: &str = select_invocations!("WHERE s.organization = $1 AND s.invocation = $2");

/// Removes the ids of records that meet a condition on `$2`, and on `$5` if it has one.
macro_rules! unlink {
    ($condition:literal) => {
        concat!(
            "INSERT INTO inv_unlinked (invocation, organization, unlinked_at, unlinked_by)
            SELECT invocation, organization, $3, $4 FROM inv_started WHERE organization = $1 AND ",
            $condition,
            " ON CONFLICT (invocation) DO NOTHING"
        )
    };
}

const UNLINK_CONVERSATION: &str = unlink!("conversation_id = $2 AND ($5 IS NULL OR interaction_id = $5)");
const UNLINK_SIMULATION: &str = unlink!("simulation_run_id = $2");

impl Store {
    pub async fn get_invocation(
        &self,
        organization: &OrganizationId,
        invocation: &InvocationId,
    ) -> Result<Option<Invocation>> {
        let query = sqlx::query(ONE).bind(organization.as_str()).bind(invocation.as_str());
        query.fetch_optional(self.readers()).await?.as_ref().map(read).transpose()
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
                let query = sqlx::query(UNLINK_CONVERSATION).bind(principal.organization.as_str());
                let query = query.bind(conversation_id).bind(now.as_milliseconds()).bind(principal.user.as_str());
                Ok(query.bind(interaction_id).execute(connection).await?.rows_affected())
            })
        })
        .await
    }

    /// Removes the ids of a simulation from its records, as [`Self::unlink_invocations`] does.
    pub async fn unlink_simulation(&self, principal: &Principal, run_id: &str) -> Result<u64> {
        let (principal, now, run_id) = (principal.clone(), self.0.clock.now(), run_id.to_owned());
        self.write(move |connection| {
            Box::pin(async move {
                let query = sqlx::query(UNLINK_SIMULATION).bind(principal.organization.as_str()).bind(run_id);
                let query = query.bind(now.as_milliseconds()).bind(principal.user.as_str());
                Ok(query.execute(connection).await?.rows_affected())
            })
        })
        .await
    }
}
