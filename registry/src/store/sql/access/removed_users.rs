//! The removal of a user: what acts for them ends, and what they alone read goes. A later user with the same id has another account, which
//! nothing of theirs names.

use crate::error::{Error, Result};
use crate::kit::account::{AccountId, OrganizationId, UserId};
use crate::store::changes::{Change, ChangeKind};
use crate::store::database::{Connection, Query};
use crate::store::sql::kit::counts::require_changed;
use crate::store::sql::kit::row::parse_column;

const FIND: &str = "SELECT account FROM members WHERE organization = $1 AND user_id = $2";

/// Ends what acts for the account `$2`. The authorisations of clients go with the keys, variables with the user.
const END: [&str; 2] = [
    "DELETE FROM tokens WHERE organization = $1 AND account = $2",
    "DELETE FROM api_keys WHERE organization = $1 AND account = $2",
];

const REMOVE: &str = "DELETE FROM members WHERE organization = $1 AND account = $2";

/// Finds the account of a user who is to be removed.
pub(super) async fn find_removed(
    connection: &mut Connection,
    organization: &OrganizationId,
    user: &UserId,
) -> Result<AccountId> {
    let found = Query::new(FIND).bind(organization.as_str()).bind(user.as_str());
    let row = found.fetch_optional(connection).await?.ok_or(Error::NotFound { what: "user" })?;
    parse_column(&row, "account")
}

/// Removes an account for which nothing of other tables acts any more.
pub(super) async fn remove(
    connection: &mut Connection,
    organization: &OrganizationId,
    account: &AccountId,
) -> Result<()> {
    let of = |statement| Query::new(statement).bind(organization.as_str()).bind(account.as_str());
    for statement in END {
        of(statement).execute(&mut *connection).await?;
    }
    require_changed(of(REMOVE).execute(&mut *connection).await?, "user")?;
    for kind in [ChangeKind::Rights, ChangeKind::UserVariables] {
        connection.announce(Change::of_user(kind, organization, account));
    }
    Ok(())
}
