//! The log of a conversation: the calls by its turns whose results a later interaction sees, and the status of such a call.

use registry::statements::{
    FoundRecord, Listing, Query, Statement, begin_statement_of, fit_page, get, read_timestamp, read_unsigned,
    read_whole, to_signed,
};
use registry::{InteractionId, OrganizationId, Page, Record, Result, RunId, Slice, TurnId};

use super::handle::Conversations;
use crate::domain::conversations::{Conversation, RunStatus, RunStatusEnd};

/// Calls by turns alone: the source that the caller of another run claims does not count.
const OF_CONVERSATION: &str = "inv_started s JOIN inv_finished f ON f.invocation = s.invocation
    WHERE s.organization = $1 AND s.turn IS NOT NULL
        AND NOT EXISTS (SELECT 1 FROM inv_unlinked u WHERE u.invocation = s.invocation)";

const STATUS: &str = "SELECT s.started_at, f.succeeded, f.duration_ms FROM inv_started s
    JOIN turns own ON own.organization = s.organization AND own.turn = s.turn
    JOIN turns asking ON asking.organization = own.organization AND asking.conversation = own.conversation
    LEFT JOIN inv_finished f ON f.invocation = s.invocation
    WHERE s.organization = $1 AND s.invocation = $2 AND asking.turn = $3";

/// The highest position of a record, of all organisations: `$1` is not compared.
const MOST: &str = "SELECT coalesce(max(rowid), 0) AS most FROM inv_started WHERE $1 <> ''";

impl Conversations {
    /// Lists the calls of a conversation whose results an interaction sees, oldest first: those that were persisted, and all calls
    /// of the interaction itself. Without an interaction, those that were persisted. Calls that were rolled back are left out.
    /// [`Error::PageTokenUnknown`] for a token of another list.
    pub async fn conversation_log(
        &self,
        conversation: &Conversation,
        interaction: Option<&InteractionId>,
        page: Page,
    ) -> Result<Slice<Record>> {
        let Conversation { id, organization, .. } = conversation;
        let list = ["log", organization.as_str(), id.as_str(), interaction.map_or("", InteractionId::as_str)];
        let mut listing = self.store.open_listing(organization).await?;
        let mut statement = begin_statement_of(organization, OF_CONVERSATION);
        statement.bind(" AND s.conversation_id = ?", id.as_str());
        match interaction {
            Some(interaction) => statement.bind(" AND (f.persisted = 1 OR s.interaction_id = ?)", interaction.as_str()),
            None => statement.push(" AND f.persisted = 1"),
        }
        if let Some(after) = self.store.registry().find_last_shown(organization, &list, page, MOST).await? {
            statement.bind(" AND s.rowid > ?", to_signed(after));
        }
        statement.bind(" ORDER BY s.rowid LIMIT ?", i64::from(page.limit) + 1);
        let found = read_found(&mut listing, statement).await?;
        let page = fit_page(&found, page);
        let Slice { items, next } =
            Slice::cut(found, page, |last| self.store.registry().seal_position(&list, last.position));
        Ok(Slice { items: read_whole(&mut listing, organization, &items).await?, next })
    }

    /// Finds the status of a run of the conversation of a turn.
    pub async fn run_status(
        &self,
        organization: &OrganizationId,
        turn: &TurnId,
        run: &RunId,
    ) -> Result<Option<RunStatus>> {
        let query = Query::new(STATUS).bind(organization.as_str()).bind(run.as_str()).bind(turn.as_str());
        let Some(row) = query.fetch_optional(self.store.readers()).await? else { return Ok(None) };
        let end = match get::<Option<i64>>(&row, "succeeded")? {
            None => None,
            Some(succeeded) => {
                Some(RunStatusEnd { succeeded: succeeded == 1, duration_ms: read_unsigned(&row, "duration_ms")? })
            }
        };
        Ok(Some(RunStatus { started_at: read_timestamp(&row, "started_at")?, end }))
    }
}

async fn read_found(listing: &mut Listing, statement: Statement) -> Result<Vec<FoundRecord>> {
    listing.rows(statement.query()).await?.iter().map(FoundRecord::read).collect()
}
