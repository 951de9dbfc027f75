//! Earlier revisions of skills and prompts.

use super::library::{Library, LibraryShelf, of, provenance};
use super::row::{json, signed, timestamp, unsigned};
use crate::error::Result;
use crate::ids::LibraryItemId;
use crate::library::{LibraryFamily, LibraryItem};
use crate::store::database::{Connection, Query};

/// Earlier revisions that an item keeps: as many as a person looks through. An agent may change its items all day.
const REVISIONS_MAX: u64 = 50;

/// Keeps the present revision of an item. Of two servers that keep the same one, the second waits for the first, and its update is
/// refused.
const KEEP_REVISION: &str = "INSERT INTO library_revisions
        (organization, item, revision, body, invocation, agent, workflow, is_trusted, written_at)
    SELECT organization, item, revision, body, invocation, agent, workflow, is_trusted, updated_at FROM library_items
    WHERE organization = $1 AND family = $2 AND owner = $3 AND app = $4 AND item = $5 AND revision = $6 AND deleted_at IS NULL
    ON CONFLICT DO NOTHING";

const DROP_REVISIONS: &str = "DELETE FROM library_revisions WHERE organization = $1 AND item = $2 AND revision <= $3";

const FIND_REVISION: &str = "SELECT * FROM library_revisions WHERE organization = $1 AND item = $2 AND revision = $3";

impl Library {
    /// Finds an item that the user owns or that was shared with the user, as it was in a revision. `None` also for a revision that is
    /// not kept any more.
    pub async fn get_revision(
        &self,
        family: LibraryFamily,
        item: &LibraryItemId,
        revision: u64,
    ) -> Result<Option<LibraryItem>> {
        // First, since an update moves the present revision to the earlier ones.
        let Some(present) = self.get(family, item).await? else { return Ok(None) };
        if present.revision == revision {
            return Ok(Some(present));
        }
        let query = Query::new(FIND_REVISION).bind(self.scope.organization.as_str()).bind(item.as_str());
        let found = query.bind(signed(revision)).fetch_optional(self.store.readers()).await?;
        let Some(row) = found else { return Ok(None) };
        Ok(Some(LibraryItem {
            body: json(&row, "body")?,
            revision: unsigned(&row, "revision")?,
            provenance: provenance(&row)?,
            updated_at: timestamp(&row, "written_at")?,
            ..present
        }))
    }
}

/// Keeps a revision of an item that is about to change, if it is the present one. The oldest revisions beyond the bound are deleted.
pub(super) async fn keep_revision(
    connection: &mut Connection,
    shelf: &LibraryShelf,
    (item, revision): (&LibraryItemId, u64),
) -> Result<()> {
    of(KEEP_REVISION, shelf).bind(item.as_str()).bind(signed(revision)).execute(&mut *connection).await?;
    let query = Query::new(DROP_REVISIONS).bind(shelf.organization()).bind(item.as_str());
    query.bind(signed(revision.saturating_sub(REVISIONS_MAX))).execute(connection).await?;
    Ok(())
}
