//! Users: adding, listing, giving another role, removing. Somebody always remains who may administer.

use super::dialect::{Connection, Row, is_conflict};
use super::roles::require_role;
use super::row::{parsed, signed, timestamp, unsigned};
use crate::account::{OrganizationId, UserId};
use crate::clock::Timestamp;
use crate::error::{Error, Result};
use crate::page::{Page, Slice};
use crate::role::{ADMINISTRATOR, RoleName};
use crate::store::Store;
use crate::user::{NewUser, User};

const LIST: &str = "SELECT * FROM members WHERE organization = $1 AND sequence > $2 ORDER BY sequence LIMIT $3";

/// The highest position that the organisation `$1` has given to a user.
const MOST: &str = "SELECT users_made FROM organizations WHERE organization = $1";

const NEXT: &str = "UPDATE organizations SET users_made = users_made + 1 WHERE organization = $1 RETURNING users_made";

impl Store {
    /// Adds a user. They get in once they have a key.
    pub async fn create_user(&self, organization: &OrganizationId, new: NewUser) -> Result<()> {
        new.id.require_free()?;
        let (organization, now) = (organization.clone(), self.0.clock.now());
        let users_max = self.0.config.users_max;
        self.write(move |connection| {
            Box::pin(async move {
                require_role(connection, &organization, &new.role).await?;
                insert_member(connection, &organization, &new, now).await?;
                require_room(connection, &organization, users_max).await
            })
        })
        .await
    }

    /// Lists users, those who came first at the top. [`Error::PageTokenUnknown`] when the page's token is not one of
    /// this list.
    pub async fn list_users(&self, organization: &OrganizationId, page: Page) -> Result<Slice<User>> {
        let list = ["users", organization.as_str()];
        let last = self.last_shown(&list, page, MOST).await?.unwrap_or(0);
        let query = sqlx::query(LIST).bind(organization.as_str()).bind(signed(last)).bind(i64::from(page.limit) + 1);
        let rows = query.fetch_all(self.readers()).await?;
        let users = rows.iter().map(|row| Ok((read(row)?, unsigned(row, "sequence")?))).collect::<Result<_>>()?;
        let token = |(_, sequence): &(User, u64)| self.page_tokens().seal(&list, *sequence);
        Ok(Slice::cut(users, page, token).map(|(user, _)| user))
    }

    pub async fn get_user(&self, organization: &OrganizationId, user: &UserId) -> Result<Option<User>> {
        let query = sqlx::query("SELECT * FROM members WHERE organization = $1 AND user_id = $2")
            .bind(organization.as_str())
            .bind(user.as_str());
        query.fetch_optional(self.readers()).await?.as_ref().map(read).transpose()
    }

    /// Gives a user another role, which counts from their next request on.
    pub async fn set_user_role(&self, organization: &OrganizationId, user: &UserId, role: RoleName) -> Result<()> {
        let (organization, user, now) = (organization.clone(), user.clone(), self.0.clock.now());
        self.change_rights(move |connection| {
            Box::pin(async move {
                require_role(connection, &organization, &role).await?;
                let update = "UPDATE members SET role = $3 WHERE organization = $1 AND user_id = $2";
                let query = sqlx::query(update).bind(organization.as_str()).bind(user.as_str()).bind(role.as_str());
                require_one(query.execute(&mut *connection).await?.rows_affected())?;
                require_administrator(connection, &organization, now).await
            })
        })
        .await
    }

    /// Removes a user with their keys and tokens. What they made stays, and keeps their name.
    pub async fn remove_user(&self, organization: &OrganizationId, user: &UserId) -> Result<()> {
        let (organization, user, now) = (organization.clone(), user.clone(), self.0.clock.now());
        self.change_rights(move |connection| {
            Box::pin(async move { remove(connection, &organization, &user, now).await })
        })
        .await
    }
}

pub(super) async fn insert_member(
    connection: &mut Connection,
    organization: &OrganizationId,
    new: &NewUser,
    now: Timestamp,
) -> Result<()> {
    let next: i64 = sqlx::query_scalar(NEXT).bind(organization.as_str()).fetch_one(&mut *connection).await?;
    let statement = "INSERT INTO members (organization, user_id, role, created_at, sequence)
        VALUES ($1, $2, $3, $4, $5)";
    let query = sqlx::query(statement).bind(organization.as_str()).bind(new.id.as_str()).bind(new.role.as_str());
    match query.bind(now.as_milliseconds()).bind(next).execute(connection).await {
        Err(error) if is_conflict(&error) => Err(Error::Exists { what: "user", name: new.id.to_string() }),
        other => other.map(|_| ()).map_err(Error::from),
    }
}

/// To be called at the end of every change that can take the right to administer from somebody, or a key. Who cannot
/// sign in does not count.
pub(super) async fn require_administrator(
    connection: &mut Connection,
    organization: &OrganizationId,
    now: Timestamp,
) -> Result<()> {
    let statement = "SELECT count(*) FROM members m
        LEFT JOIN roles r ON r.organization = m.organization AND r.name = m.role
        WHERE m.organization = $1 AND (m.role = $2 OR r.administers = 1)
            AND EXISTS (SELECT 1 FROM api_keys k WHERE k.organization = m.organization AND k.user_id = m.user_id
                AND k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > $3))";
    let query = sqlx::query_scalar(statement).bind(organization.as_str()).bind(ADMINISTRATOR);
    let query = query.bind(now.as_milliseconds());
    let administrators: i64 = query.fetch_one(connection).await?;
    if administrators == 0 { Err(Error::LastAdministrator) } else { Ok(()) }
}

async fn require_room(connection: &mut Connection, organization: &OrganizationId, users_max: u32) -> Result<()> {
    let query = sqlx::query_scalar("SELECT count(*) FROM members WHERE organization = $1").bind(organization.as_str());
    let users: i64 = query.fetch_one(connection).await?;
    if users > i64::from(users_max) {
        return Err(Error::TooMany { what: "users of an organization", limit: users_max.into() });
    }
    Ok(())
}

async fn remove(
    connection: &mut Connection,
    organization: &OrganizationId,
    user: &UserId,
    now: Timestamp,
) -> Result<()> {
    for statement in [
        // Another user may have the same id one day.
        "UPDATE operations SET idempotency_key = NULL WHERE organization = $1 AND user_id = $2",
        "DELETE FROM tokens WHERE organization = $1 AND user_id = $2",
        "DELETE FROM api_keys WHERE organization = $1 AND user_id = $2",
    ] {
        let query = sqlx::query(statement).bind(organization.as_str()).bind(user.as_str());
        query.execute(&mut *connection).await?;
    }
    let query = sqlx::query("DELETE FROM members WHERE organization = $1 AND user_id = $2");
    let removed = query.bind(organization.as_str()).bind(user.as_str()).execute(&mut *connection).await?;
    require_one(removed.rows_affected())?;
    require_administrator(connection, organization, now).await
}

fn require_one(rows: u64) -> Result<()> {
    if rows == 0 { Err(Error::NotFound { what: "user" }) } else { Ok(()) }
}

fn read(row: &Row) -> Result<User> {
    Ok(User { id: parsed(row, "user_id")?, role: parsed(row, "role")?, created_at: timestamp(row, "created_at")? })
}
