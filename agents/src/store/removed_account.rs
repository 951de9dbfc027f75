//! The end of what agents do for an account that is removed, and of what it alone reads. A later user with the same id has another
//! account, which nothing of theirs names.

use registry::Result;
use registry::statements::{AccountEnd, Change, ChangeKind, Connection, Query};

/// Ends what acts for the account `$2`.
const END: [&str; 6] = [
    "DELETE FROM agent_run_steps WHERE organization = $1 AND agent_run IN
        (SELECT agent_run FROM agent_runs WHERE organization = $1 AND account = $2)",
    "DELETE FROM human_requests WHERE organization = $1 AND agent_run IN
        (SELECT agent_run FROM agent_runs WHERE organization = $1 AND account = $2)",
    "DELETE FROM agent_runs WHERE organization = $1 AND account = $2",
    // An item that colleagues read stays, and is due no more.
    "UPDATE library_items SET due_at = NULL WHERE organization = $1 AND family = 'tasks' AND owner = $2",
    // Nobody searches in memories of others.
    "DELETE FROM library_index WHERE organization = $1 AND owner = $2",
    "DELETE FROM library_scopes WHERE organization = $1 AND owner = $2",
];

/// Deletes the items of the Library that nobody else reads, as their owner would. The list of families lets the index find the owner.
const DELETE_ITEMS: &str =
    "UPDATE library_items SET deleted_at = $3, due_at = NULL, tags = '[]', body = '{}', content_bytes = 0,
        content = NULL
    WHERE organization = $1 AND owner = $2 AND deleted_at IS NULL
        AND family IN ('memory', 'rules', 'skills', 'tasks', 'prompts', 'artifacts', 'preferences')
        AND NOT (family = 'artifacts' AND (coalesce(CAST({field body shared_to_org} AS TEXT), '') IN ('1', 'true')
            OR coalesce(CAST({field body is_public} AS TEXT), '') IN ('1', 'true')))
        AND NOT EXISTS (SELECT 1 FROM library_shares s
            WHERE s.organization = library_items.organization AND s.item = library_items.item)";

const DELETE_REVISIONS: &str = "DELETE FROM library_revisions WHERE organization = $1 AND item IN
    (SELECT item FROM library_items WHERE organization = $1 AND owner = $2 AND deleted_at = $3)";

/// Ends the shares of items that others let the user read.
const END_SHARES: &str = "DELETE FROM library_shares WHERE organization = $1 AND account = $2";

/// Counts of changes of what the user saw, the end of the last shares included.
const FORGET_CHANGES: &str = "DELETE FROM library_changes WHERE organization = $1 AND reader = $2";

pub(super) async fn end_account(connection: &mut Connection, end: AccountEnd<'_>) -> Result<()> {
    let AccountEnd { organization, account, now } = end;
    let of = |statement| Query::new(statement).bind(organization.as_str()).bind(account.as_str());
    for statement in END {
        of(statement).execute(&mut *connection).await?;
    }
    for statement in [DELETE_ITEMS, DELETE_REVISIONS] {
        of(statement).bind(now.as_milliseconds()).execute(&mut *connection).await?;
    }
    for statement in [END_SHARES, FORGET_CHANGES] {
        of(statement).execute(&mut *connection).await?;
    }
    // Others may have seen the user's items.
    connection.announce(Change::of_organization(ChangeKind::Library, organization));
    Ok(())
}
