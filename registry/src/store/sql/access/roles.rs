//! Custom roles of an organisation. Built-in roles are defined in code.

use super::administrators::require_administrator;
use super::handle::Access;
use crate::access::{Grants, Permission, Role, RoleName, RoleTimes};
use crate::error::{Error, Result};
use crate::kit::account::OrganizationId;
use crate::store::changes::{Change, ChangeKind};
use crate::store::database::{Connection, Query, Row};
use crate::store::sql::kit::counts::{require_changed, require_within};
use crate::store::sql::kit::row::{parse_column, read_json, read_timestamp, to_json};

impl Access {
    /// Creates a role. [`Error::Exists`] when the name is taken, also by a built-in role.
    pub async fn create_role(&self, organization: &OrganizationId, name: RoleName, grants: Grants) -> Result<()> {
        if Role::find_built_in(&name).is_some() {
            return Err(Error::Exists { what: "role", name: name.into() });
        }
        let now = self.store.0.clock.now();
        let role = Role { name, grants, custom: Some(RoleTimes { created_at: now, updated_at: now }) };
        let organization = organization.clone();
        let roles_max = self.store.0.config.roles_max;
        self.store
            .write(move |connection| {
                Box::pin(async move {
                    insert(connection, &organization, &role).await?;
                    require_below_limit(connection, &organization, roles_max).await
                })
            })
            .await
    }

    /// Lists the built-in roles, then the custom roles by name.
    pub async fn list_roles(&self, organization: &OrganizationId) -> Result<Vec<Role>> {
        let statement = "SELECT * FROM roles WHERE organization = $1 ORDER BY name";
        let rows = Query::new(statement).bind(organization.as_str()).fetch_all(self.store.readers()).await?;
        let own = rows.iter().map(read).collect::<Result<Vec<_>>>()?;
        Ok(Role::built_in().into_iter().chain(own).collect())
    }

    pub async fn get_role(&self, organization: &OrganizationId, name: &RoleName) -> Result<Option<Role>> {
        if let Some(role) = Role::find_built_in(name) {
            return Ok(Some(role));
        }
        let query = Query::new("SELECT * FROM roles WHERE organization = $1 AND name = $2");
        let row = query.bind(organization.as_str()).bind(name.as_str()).fetch_optional(self.store.readers()).await?;
        row.as_ref().map(read).transpose()
    }

    /// Replaces the grants of a custom role, from the next request of its users on.
    pub async fn modify_role(&self, organization: &OrganizationId, name: &RoleName, grants: Grants) -> Result<()> {
        require_custom(name)?;
        let (organization, name, now) = (organization.clone(), name.clone(), self.store.0.clock.now());
        self.store
            .write(move |connection| {
                Box::pin(async move {
                    let update = "UPDATE roles SET grants = $3, administers = $4, updated_at = $5
                    WHERE organization = $1 AND name = $2";
                    let query = Query::new(update).bind(organization.as_str()).bind(name.as_str());
                    let query = query.bind(to_json(&grants)?).bind(grants.allow(Permission::Administer));
                    let modified = query.bind(now.as_milliseconds()).execute(&mut *connection).await?;
                    require_changed(modified, "role")?;
                    connection.announce(Change::of_organization(ChangeKind::Rights, &organization));
                    require_administrator(connection, &organization, now).await
                })
            })
            .await
    }

    /// Deletes a custom role that no user has.
    pub async fn delete_role(&self, organization: &OrganizationId, name: &RoleName) -> Result<()> {
        require_custom(name)?;
        let (organization, name) = (organization.clone(), name.clone());
        self.store
            .write(move |connection| {
                Box::pin(async move {
                    let query = Query::new("DELETE FROM roles WHERE organization = $1 AND name = $2");
                    let query = query.bind(organization.as_str()).bind(name.as_str());
                    require_changed(query.execute(&mut *connection).await?, "role")?;
                    require_unused(connection, &organization, name).await
                })
            })
            .await
    }
}

/// Fails when the role does not exist.
pub(super) async fn require_role(
    connection: &mut Connection,
    organization: &OrganizationId,
    name: &RoleName,
) -> Result<()> {
    if Role::find_built_in(name).is_some() {
        return Ok(());
    }
    let query = Query::new("SELECT name FROM roles WHERE organization = $1 AND name = $2");
    let found = query.bind(organization.as_str()).bind(name.as_str()).fetch_optional(connection).await?;
    found.map(|_| ()).ok_or_else(|| Error::RoleUnknown { name: name.clone() })
}

async fn insert(connection: &mut Connection, organization: &OrganizationId, role: &Role) -> Result<()> {
    let Role { name, grants, custom } = role;
    let statement = "INSERT INTO roles (organization, name, grants, administers, created_at, updated_at)
        VALUES ($1, $2, $3, $4, $5, $5)";
    let query = Query::new(statement).bind(organization.as_str()).bind(name.as_str()).bind(to_json(grants)?);
    let query = query.bind(grants.allow(Permission::Administer));
    let query = query.bind(custom.map(|times| times.created_at.as_milliseconds()));
    match query.execute(connection).await {
        Err(failure) if failure.is_conflict() => Err(Error::Exists { what: "role", name: name.to_string() }),
        other => other.map(|_| ()).map_err(Error::from),
    }
}

async fn require_below_limit(connection: &mut Connection, organization: &OrganizationId, roles_max: u32) -> Result<()> {
    let query = Query::new("SELECT count(*) AS roles FROM roles WHERE organization = $1").bind(organization.as_str());
    require_within(roles_max.into(), query.fetch_column("roles", connection).await?, "roles of an organization")
}

async fn require_unused(connection: &mut Connection, organization: &OrganizationId, name: RoleName) -> Result<()> {
    let query = Query::new("SELECT count(*) AS users FROM members WHERE organization = $1 AND role = $2");
    let query = query.bind(organization.as_str()).bind(name.as_str());
    let users: i64 = query.fetch_column("users", connection).await?;
    if users == 0 { Ok(()) } else { Err(Error::RoleInUse { name, users: users.unsigned_abs() }) }
}

fn require_custom(name: &RoleName) -> Result<()> {
    match Role::find_built_in(name) {
        Some(role) => Err(Error::RoleBuiltIn { name: role.name }),
        None => Ok(()),
    }
}

fn read(row: &Row) -> Result<Role> {
    let times =
        RoleTimes { created_at: read_timestamp(row, "created_at")?, updated_at: read_timestamp(row, "updated_at")? };
    Ok(Role { name: parse_column(row, "name")?, grants: read_json(row, "grants")?, custom: Some(times) })
}
