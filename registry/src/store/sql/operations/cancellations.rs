//! Requests to cancel runs, which reach the server that has the run.

use super::handle::Operations;
use crate::access::Principal;
use crate::error::Result;
use crate::kit::account::{OrganizationId, UserId};
use crate::kit::ids::RunId;
use crate::store::changes::{Change, ChangeKind};
use crate::store::database::{Query, Row};
use crate::store::sql::kit::row::parse_column;

/// Only for a run that another server has.
const REQUEST: &str = "INSERT INTO cancellations (invocation, organization, user_id, requested_at)
    SELECT invocation, organization, $3, $4 FROM inv_open WHERE organization = $1 AND invocation = $2 AND boot <> $5
    ON CONFLICT (invocation) DO NOTHING";

const TAKE: &str = "DELETE FROM cancellations WHERE invocation IN (SELECT invocation FROM inv_open WHERE boot = $1)
    RETURNING invocation, organization, user_id";

/// Runs that have ended meanwhile.
const DELETE_OLD: &str = "DELETE FROM cancellations
    WHERE NOT EXISTS (SELECT 1 FROM inv_open o WHERE o.invocation = cancellations.invocation)";

const WAITING: &str = "SELECT 1 AS waiting FROM cancellations LIMIT 1";

/// A run that a user cancels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestedCancellation {
    pub run: RunId,
    pub organization: OrganizationId,
    pub by: UserId,
}

impl Operations {
    /// Asks the server that has a run to cancel it. Returns `false` when no other server has it.
    pub async fn request_cancellation(&self, principal: &Principal, run: &RunId) -> Result<bool> {
        let (now, boot) = (self.store.0.clock.now(), self.store.0.boot.clone());
        let query = Query::new(REQUEST).bind(principal.organization.as_str()).bind(run.as_str());
        let query = query.bind(principal.user().as_str()).bind(now.as_milliseconds()).bind(boot.as_str());
        let organization = principal.organization.clone();
        self.store
            .write(move |connection| {
                Box::pin(async move {
                    let is_requested = query.execute(&mut *connection).await? > 0;
                    if is_requested {
                        connection.announce(Change::of_organization(ChangeKind::Cancellations, &organization));
                    }
                    Ok(is_requested)
                })
            })
            .await
    }

    /// Takes the requests for runs of this server.
    pub async fn requested_cancellations(&self) -> Result<Vec<RequestedCancellation>> {
        if Query::new(WAITING).fetch_optional(self.store.readers()).await?.is_none() {
            return Ok(Vec::new());
        }
        let boot = self.store.0.boot.clone();
        self.store
            .write(move |connection| {
                Box::pin(async move {
                    let rows = Query::new(TAKE).bind(boot.as_str()).fetch_all(&mut *connection).await?;
                    Query::new(DELETE_OLD).execute(connection).await?;
                    rows.iter().map(read).collect()
                })
            })
            .await
    }
}

fn read(row: &Row) -> Result<RequestedCancellation> {
    let (organization, by) = (parse_column(row, "organization")?, parse_column(row, "user_id")?);
    Ok(RequestedCancellation { run: parse_column(row, "invocation")?, organization, by })
}
