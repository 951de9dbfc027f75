//! The removal of a user: what acts for them ends, and what they alone read goes. A later user with the same id has another account, which
//! nothing of theirs names.

use crate::error::{Error, Result};
use crate::kit::account::{AccountId, OrganizationId, UserId};
use crate::kit::clock::Timestamp;
use crate::store::changes::{Change, ChangeKind};
use crate::store::database::{Connection, Query};
use crate::store::sql::kit::counts::require_changed;
use crate::store::sql::kit::row::parsed;

const FIND: &str = "SELECT account FROM members WHERE organization = $1 AND user_id = $2";

/// Ends what acts for the account `$2`. The authorisations of clients go with the keys, variables and shares with the user.
const END: [&str; 8] = [
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
    "DELETE FROM tokens WHERE organization = $1 AND account = $2",
    "DELETE FROM api_keys WHERE organization = $1 AND account = $2",
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

const REMOVE: &str = "DELETE FROM members WHERE organization = $1 AND account = $2";

/// Counts of changes of what the user saw, the end of the last shares included.
const FORGET_CHANGES: &str = "DELETE FROM library_changes WHERE organization = $1 AND reader = $2";

pub(super) async fn remove(
    connection: &mut Connection,
    organization: &OrganizationId,
    user: &UserId,
    now: Timestamp,
) -> Result<()> {
    let found = Query::new(FIND).bind(organization.as_str()).bind(user.as_str());
    let row = found.fetch_optional(&mut *connection).await?.ok_or(Error::NotFound { what: "user" })?;
    let account: AccountId = parsed(&row, "account")?;
    let of = |statement| Query::new(statement).bind(organization.as_str()).bind(account.as_str());
    for statement in END {
        of(statement).execute(&mut *connection).await?;
    }
    for statement in [DELETE_ITEMS, DELETE_REVISIONS] {
        of(statement).bind(now.as_milliseconds()).execute(&mut *connection).await?;
    }
    require_changed(of(REMOVE).execute(&mut *connection).await?, "user")?;
    of(FORGET_CHANGES).execute(&mut *connection).await?;
    for kind in [ChangeKind::Rights, ChangeKind::UserVariables] {
        connection.announce(Change::of_user(kind, organization, &account));
    }
    // Others may have seen the user's items.
    connection.announce(Change::of_organization(ChangeKind::Library, organization));
    Ok(())
}
