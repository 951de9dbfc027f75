//! Taking runs out of a conversation or a simulation that is rolled back. Their records stay in the history.

use crate::history::Rollback;
use crate::kit::account::{AccountId, OrganizationId, UserId};
use crate::kit::clock::Timestamp;
use crate::store::database::Query;
use crate::store::queued::Work;

/// Removes the ids of records of the account `$5`, or of all accounts, that meet a condition on `$2`, and on `$6` if it has one.
macro_rules! unlink {
    ($condition:literal) => {
        concat!(
            "INSERT INTO inv_unlinked (invocation, organization, unlinked_at, unlinked_by)
            SELECT invocation, organization, $3, $4 FROM inv_started WHERE organization = $1
                AND (CAST($5 AS TEXT) IS NULL OR account = $5) AND ",
            $condition,
            " ON CONFLICT (invocation) DO NOTHING"
        )
    };
}

const UNLINK_CONVERSATION: &str = unlink!("conversation_id = $2 AND (CAST($6 AS TEXT) IS NULL OR interaction_id = $6)");
const UNLINK_SIMULATION: &str = unlink!("simulation_run_id = $2");

/// The user who takes runs out of a conversation or a simulation, and the time.
pub(super) struct Unlinking<'a> {
    pub organization: &'a OrganizationId,
    pub by: &'a UserId,
    /// The only account whose runs are taken out. `None` for those of all.
    pub own: Option<&'a AccountId>,
    pub at: Timestamp,
}

impl Unlinking<'_> {
    /// Returns the write, whose result is the number of runs.
    pub fn work(self, from: &Rollback) -> impl Work<u64> {
        let (statement, id, interaction) = match from {
            Rollback::Conversation { id, interaction_id } => (UNLINK_CONVERSATION, id, Some(interaction_id.clone())),
            Rollback::Simulation { run_id } => (UNLINK_SIMULATION, run_id, None),
        };
        let query = Query::new(statement).bind(self.organization.to_string()).bind(id.clone());
        let query = query.bind(self.at.as_milliseconds()).bind(self.by.to_string());
        let query = query.bind(self.own.map(|own| own.as_str().to_owned()));
        let query = match interaction {
            Some(interaction) => query.bind(interaction),
            None => query,
        };
        move |connection| Box::pin(async move { Ok(query.execute(connection).await?) })
    }
}
