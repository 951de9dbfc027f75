//! Users: adding, listing, changing their role, removing. An administrator always remains.

use super::administrators::require_administrator;
use super::agent_runs::delete_runs_of_user;
use super::counts::{require_changed, require_within};
use super::roles::require_role;
use super::row::{parsed, signed, timestamp, unsigned};
use crate::account::{OrganizationId, UserId};
use crate::error::{Error, Result};
use crate::page::{Page, Slice};
use crate::role::RoleName;
use crate::store::changes::{Change, ChangeKind};
use crate::store::database::{Connection, Query, Row};
use crate::store::handle::Store;
use crate::user::{NewUser, User};

const LIST: &str = "SELECT * FROM members WHERE organization = $1 AND sequence > $2 ORDER BY sequence LIMIT $3";

/// The highest position of a user in the organisation `$1`.
const MOST: &str = "SELECT users_made AS most FROM organizations WHERE organization = $1";

const NEXT: &str = "UPDATE organizations SET users_made = users_made + 1 WHERE organization = $1 RETURNING users_made";

impl Store {
    /// Adds a user, who needs a key to sign in.
    pub async fn create_user(&self, organization: &OrganizationId, new: NewUser) -> Result<()> {
        new.id.require_free()?;
        let user = User { id: new.id, role: new.role, created_at: self.0.clock.now() };
        let (organization, users_max) = (organization.clone(), self.0.config.users_max);
        self.write(move |connection| {
            Box::pin(async move {
                require_role(connection, &organization, &user.role).await?;
                insert_member(connection, &organization, &user).await?;
                require_below_limit(connection, &organization, users_max).await
            })
        })
        .await
    }

    /// Lists users, oldest first. [`Error::PageTokenUnknown`] for a token of another list.
    pub async fn list_users(&self, organization: &OrganizationId, page: Page) -> Result<Slice<User>> {
        let list = ["users", organization.as_str()];
        let last = self.last_shown(&list, page, MOST).await?.unwrap_or(0);
        let query = Query::new(LIST).bind(organization.as_str()).bind(signed(last)).bind(i64::from(page.limit) + 1);
        let rows = query.fetch_all(self.readers()).await?;
        let users = rows.iter().map(|row| Ok((read(row)?, unsigned(row, "sequence")?))).collect::<Result<_>>()?;
        let token = |(_, sequence): &(User, u64)| self.page_tokens().seal(&list, *sequence);
        Ok(Slice::cut(users, page, token).map(|(user, _)| user))
    }

    pub async fn get_user(&self, organization: &OrganizationId, user: &UserId) -> Result<Option<User>> {
        let query = Query::new("SELECT * FROM members WHERE organization = $1 AND user_id = $2")
            .bind(organization.as_str())
            .bind(user.as_str());
        query.fetch_optional(self.readers()).await?.as_ref().map(read).transpose()
    }

    /// Changes the role of a user, from their next request on.
    pub async fn set_user_role(&self, organization: &OrganizationId, user: &UserId, role: RoleName) -> Result<()> {
        let (organization, user, now) = (organization.clone(), user.clone(), self.0.clock.now());
        self.write(move |connection| {
            Box::pin(async move {
                require_role(connection, &organization, &role).await?;
                let update = "UPDATE members SET role = $3 WHERE organization = $1 AND user_id = $2";
                let query = Query::new(update).bind(organization.as_str()).bind(user.as_str()).bind(role.as_str());
                require_changed(query.execute(&mut *connection).await?, "user")?;
                connection.announce(Change::of_user(ChangeKind::Rights, &organization, &user));
                require_administrator(connection, &organization, now).await
            })
        })
        .await
    }

    /// Removes a user with their keys and tokens. Tools and versions that they created stay, with their id.
    pub async fn remove_user(&self, organization: &OrganizationId, user: &UserId) -> Result<()> {
        let (organization, user, now) = (organization.clone(), user.clone(), self.0.clock.now());
        self.write(move |connection| {
            Box::pin(async move {
                remove(connection, &organization, &user).await?;
                require_administrator(connection, &organization, now).await
            })
        })
        .await
    }
}

pub(super) async fn insert_member(
    connection: &mut Connection,
    organization: &OrganizationId,
    new: &User,
) -> Result<()> {
    let next: i64 = Query::new(NEXT).bind(organization.as_str()).fetch_column("users_made", &mut *connection).await?;
    let statement = "INSERT INTO members (organization, user_id, role, created_at, sequence)
        VALUES ($1, $2, $3, $4, $5)";
    let query = Query::new(statement).bind(organization.as_str()).bind(new.id.as_str()).bind(new.role.as_str());
    match query.bind(new.created_at.as_milliseconds()).bind(next).execute(connection).await {
        Err(failure) if failure.is_conflict() => Err(Error::Exists { what: "user", name: new.id.to_string() }),
        other => other.map(|_| ()).map_err(Error::from),
    }
}

async fn require_below_limit(connection: &mut Connection, organization: &OrganizationId, users_max: u32) -> Result<()> {
    let query = Query::new("SELECT count(*) AS users FROM members WHERE organization = $1").bind(organization.as_str());
    require_within(users_max.into(), query.fetch_column("users", connection).await?, "users of an organization")
}

async fn remove(connection: &mut Connection, organization: &OrganizationId, user: &UserId) -> Result<()> {
    delete_runs_of_user(connection, (organization, user)).await?;
    for statement in [
        // A future user may have the same id.
        "UPDATE operations SET idempotency_key = NULL WHERE organization = $1 AND user_id = $2",
        "DELETE FROM tokens WHERE organization = $1 AND user_id = $2",
        "DELETE FROM api_keys WHERE organization = $1 AND user_id = $2",
    ] {
        let query = Query::new(statement).bind(organization.as_str()).bind(user.as_str());
        query.execute(&mut *connection).await?;
    }
    let query = Query::new("DELETE FROM members WHERE organization = $1 AND user_id = $2");
    let removed = query.bind(organization.as_str()).bind(user.as_str()).execute(&mut *connection).await?;
    for kind in [ChangeKind::Rights, ChangeKind::UserVariables] {
        connection.announce(Change::of_user(kind, organization, user));
    }
    // Others may have seen the user's items.
    connection.announce(Change::of_organization(ChangeKind::Library, organization));
    require_changed(removed, "user")
}

fn read(row: &Row) -> Result<User> {
    Ok(User { id: parsed(row, "user_id")?, role: parsed(row, "role")?, created_at: timestamp(row, "created_at")? })
}
