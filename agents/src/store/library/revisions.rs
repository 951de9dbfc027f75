//! Earlier revisions of skills and prompts.

use registry::statements::{Connection, Query, to_signed};
use registry::{LibraryItemId, OrganizationId, Result};

use super::shelf::{LibraryShelf, is_of_shelf};

/// Earlier revisions that an item keeps: as many as a person looks through. An agent may change its items all day.
const REVISIONS_MAX: u64 = 50;

/// Keeps the present revision of an item. Of two servers that keep the same one, the second waits for the first, and its update is
/// refused.
const KEEP_REVISION: &str = concat!(
    "INSERT INTO library_revisions
        (organization, item, revision, owner, body, invocation, agent, workflow, is_trusted, written_at, content_bytes, content)
    SELECT organization, item, revision, owner, body, invocation, agent, workflow, is_trusted, updated_at, content_bytes, content
    FROM library_items WHERE ",
    is_of_shelf!(),
    " AND item = $5 AND revision = $6 ON CONFLICT DO NOTHING"
);

const DROP_REVISIONS: &str = "DELETE FROM library_revisions WHERE organization = $1 AND item = $2 AND revision <= $3";

const DROP_ALL: &str = "DELETE FROM library_revisions WHERE organization = $1 AND item = $2";

const FIND_REVISION: &str = "SELECT * FROM library_revisions WHERE organization = $1 AND item = $2 AND revision = $3";

/// Selects an earlier revision of an item.
pub(super) fn query_revision(organization: &OrganizationId, item: &LibraryItemId, revision: u64) -> Query {
    Query::new(FIND_REVISION).bind(organization.as_str()).bind(item.as_str()).bind(to_signed(revision))
}

/// Deletes the earlier revisions of a deleted item, whose bytes are free then.
pub(super) async fn drop_revisions(
    connection: &mut Connection,
    organization: &OrganizationId,
    item: &LibraryItemId,
) -> Result<()> {
    Query::new(DROP_ALL).bind(organization.as_str()).bind(item.as_str()).execute(connection).await?;
    Ok(())
}

/// Keeps a revision of an item that is about to change, if it is the present one. The oldest revisions beyond the bound are deleted.
pub(super) async fn keep_revision(
    connection: &mut Connection,
    shelf: &LibraryShelf,
    item: &LibraryItemId,
    revision: u64,
) -> Result<()> {
    shelf.query(KEEP_REVISION).bind(item.as_str()).bind(to_signed(revision)).execute(&mut *connection).await?;
    let query = Query::new(DROP_REVISIONS).bind(shelf.scope.organization.as_str()).bind(item.as_str());
    query.bind(to_signed(revision.saturating_sub(REVISIONS_MAX))).execute(connection).await?;
    Ok(())
}
