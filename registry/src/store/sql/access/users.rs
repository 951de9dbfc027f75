//! Users: adding, listing, changing their role, removing. An administrator always remains.

use super::administrators::require_administrator;
use super::handle::Access;
use super::removed_users::{find_removed, remove};
use super::roles::require_role;
use crate::access::{NewUser, RoleName, User};
use crate::error::{Error, Result};
use crate::kit::account::{AccountId, OrganizationId, UserId};
use crate::kit::clock::Timestamp;
use crate::kit::page::{Page, Slice};
use crate::store::changes::{Change, ChangeKind};
use crate::store::database::{Connection, Query, Row};
use crate::store::other_tables::AccountEnd;
use crate::store::sql::kit::counts::require_within;
use crate::store::sql::kit::row::{parse_column, read_timestamp, read_unsigned, to_signed};

const LIST: &str = "SELECT * FROM members WHERE organization = $1 AND sequence > $2 ORDER BY sequence LIMIT $3";

/// The highest position of a user in the organisation `$1`.
const MOST: &str = "SELECT users_made AS most FROM organizations WHERE organization = $1";

const NEXT: &str = "UPDATE organizations SET users_made = users_made + 1 WHERE organization = $1 RETURNING users_made";

impl Access {
    /// Adds a user, who needs a key to sign in.
    pub async fn create_user(&self, organization: &OrganizationId, new: NewUser) -> Result<()> {
        new.id.require_free()?;
        let (organization, users_max, now) =
            (organization.clone(), self.store.0.config.users_max, self.store.0.clock.now());
        self.store
            .write(move |connection| {
                Box::pin(async move {
                    require_role(connection, &organization, &new.role).await?;
                    insert_member(connection, &organization, &new, now).await?;
                    require_below_limit(connection, &organization, users_max).await
                })
            })
            .await
    }

    /// Lists users, oldest first. [`Error::PageTokenUnknown`] for a token of another list.
    pub async fn list_users(&self, organization: &OrganizationId, page: Page) -> Result<Slice<User>> {
        let list = ["users", organization.as_str()];
        let last = self.store.find_last_shown(organization, &list, page, MOST).await?.unwrap_or(0);
        let query = Query::new(LIST).bind(organization.as_str()).bind(to_signed(last)).bind(i64::from(page.limit) + 1);
        let rows = query.fetch_all(self.store.readers()).await?;
        let users = rows.iter().map(|row| Ok((read(row)?, read_unsigned(row, "sequence")?))).collect::<Result<_>>()?;
        let token = |(_, sequence): &(User, u64)| self.store.page_tokens().seal(&list, *sequence);
        Ok(Slice::cut(users, page, token).map(|(user, _)| user))
    }

    pub async fn get_user(&self, organization: &OrganizationId, user: &UserId) -> Result<Option<User>> {
        let query = Query::new("SELECT * FROM members WHERE organization = $1 AND user_id = $2")
            .bind(organization.as_str())
            .bind(user.as_str());
        query.fetch_optional(self.store.readers()).await?.as_ref().map(read).transpose()
    }

    /// Finds the account of a user. [`Error::UserUnknown`] when nobody has the id.
    pub async fn account(&self, organization: &OrganizationId, user: &UserId) -> Result<AccountId> {
        let found = self.get_user(organization, user).await?;
        found.map(|user| user.account).ok_or_else(|| Error::UserUnknown { user: user.clone() })
    }

    /// Whether an account is that of a user who was not removed.
    pub async fn is_member(&self, organization: &OrganizationId, account: &AccountId) -> Result<bool> {
        let query = Query::new("SELECT 1 AS found FROM members WHERE organization = $1 AND account = $2")
            .bind(organization.as_str())
            .bind(account.as_str());
        Ok(query.fetch_optional(self.store.readers()).await?.is_some())
    }

    /// Changes the role of a user, from their next request on.
    pub async fn set_user_role(&self, organization: &OrganizationId, user: &UserId, role: RoleName) -> Result<()> {
        let (organization, user, now) = (organization.clone(), user.clone(), self.store.0.clock.now());
        self.store
            .write(move |connection| {
                Box::pin(async move {
                    require_role(connection, &organization, &role).await?;
                    let update =
                        "UPDATE members SET role = $3 WHERE organization = $1 AND user_id = $2 RETURNING account";
                    let query = Query::new(update).bind(organization.as_str()).bind(user.as_str()).bind(role.as_str());
                    let row = query.fetch_optional(&mut *connection).await?.ok_or(Error::NotFound { what: "user" })?;
                    let account = parse_column(&row, "account")?;
                    connection.announce(Change::of_user(ChangeKind::Rights, &organization, &account));
                    require_administrator(connection, &organization, now).await
                })
            })
            .await
    }

    /// Removes a user, with everything that acts for them or that they alone see. A later user with the same id has another account.
    pub async fn remove_user(&self, organization: &OrganizationId, user: &UserId) -> Result<()> {
        let (organization, user, now) = (organization.clone(), user.clone(), self.store.0.clock.now());
        let kept = self.store.0.kept.clone();
        self.store
            .write(move |connection| {
                Box::pin(async move {
                    let account = find_removed(connection, &organization, &user).await?;
                    if let Some(others) = &kept.other_tables {
                        others
                            .end_account(connection, AccountEnd { organization: &organization, account: &account, now })
                            .await?;
                    }
                    remove(connection, &organization, &account).await?;
                    require_administrator(connection, &organization, now).await
                })
            })
            .await
    }
}

/// Inserts a user. Returns the account, whose position is given once.
pub(super) async fn insert_member(
    connection: &mut Connection,
    organization: &OrganizationId,
    new: &NewUser,
    now: Timestamp,
) -> Result<AccountId> {
    let next: i64 = Query::new(NEXT).bind(organization.as_str()).fetch_column("users_made", &mut *connection).await?;
    let account = AccountId::new(&new.id, next.unsigned_abs());
    let statement = "INSERT INTO members (organization, account, user_id, role, created_at, sequence)
        VALUES ($1, $2, $3, $4, $5, $6)";
    let query = Query::new(statement).bind(organization.as_str()).bind(account.as_str()).bind(new.id.as_str());
    let query = query.bind(new.role.as_str()).bind(now.as_milliseconds()).bind(next);
    match query.execute(connection).await {
        Err(failure) if failure.is_conflict() => Err(Error::Exists { what: "user", name: new.id.to_string() }),
        other => other.map(|_| account).map_err(Error::from),
    }
}

async fn require_below_limit(connection: &mut Connection, organization: &OrganizationId, users_max: u32) -> Result<()> {
    let query = Query::new("SELECT count(*) AS users FROM members WHERE organization = $1").bind(organization.as_str());
    require_within(users_max.into(), query.fetch_column("users", connection).await?, "users of an organization")
}

fn read(row: &Row) -> Result<User> {
    Ok(User {
        account: parse_column(row, "account")?,
        role: parse_column(row, "role")?,
        created_at: read_timestamp(row, "created_at")?,
    })
}
