//! The variables of users: setting, removing, and opening them for runs. All values are sealed.

use std::sync::Arc;

use super::handle::Access;
use super::keys::read_data_key;
use crate::access::{
    NewUserVariable, Principal, SealedUserVariable, ShownUserVariable, UserVariableName, UserVariables,
};
use crate::error::Result;
use crate::kit::account::{AccountId, OrganizationId};
use crate::kit::invalid_value::InvalidValue;
use crate::secrets::{SealedFor, VariableOwner};
use crate::store::changes::{Change, ChangeKind};
use crate::store::database::{Query, Row};
use crate::store::sql::kit::counts::{require_changed, require_within};
use crate::store::sql::kit::row::{get, parse_column, read_timestamp};
use crate::tools::SecretValue;

/// Variables of one user of each kind, as many as a caller may send.
const VARIABLES_MAX: u64 = 20;
/// Bytes of a value. Fits a token or an address.
const VALUE_BYTES_MAX: usize = 8 * 1024;

const LIST: &str = "SELECT * FROM user_variables WHERE organization = $1 AND account = $2 ORDER BY name";

const SET: &str = "INSERT INTO user_variables
        (organization, account, name, is_sensitive, sealed, key_id, updated_by, updated_at)
    SELECT organization, account, $3, $4, $5, $6, $7, $8 FROM members WHERE organization = $1 AND account = $2
    ON CONFLICT (organization, account, name) DO UPDATE SET is_sensitive = excluded.is_sensitive, sealed = excluded.sealed,
        key_id = excluded.key_id, updated_by = excluded.updated_by, updated_at = excluded.updated_at";

const COUNT: &str = "SELECT count(*) AS variables FROM user_variables
    WHERE organization = $1 AND account = $2 AND is_sensitive = $3";

const REMOVE: &str = "DELETE FROM user_variables WHERE organization = $1 AND account = $2 AND name = $3";

impl Access {
    /// Sets a variable of a user, in place of an earlier one of this name. [`crate::Error::NotFound`] for a user who does not exist.
    pub async fn set_user_variable(&self, by: &Principal, account: &AccountId, new: NewUserVariable) -> Result<()> {
        if new.value.expose().len() > VALUE_BYTES_MAX {
            return Err(InvalidValue::new("variable value", "must have at most 8192 bytes").into());
        }
        let (by, account, keys, now) =
            (by.clone(), account.clone(), self.store.0.keys.clone(), self.store.0.clock.now());
        self.store
            .write(move |connection| {
                Box::pin(async move {
                    let key = read_data_key(connection, &by.organization, &keys).await?;
                    let place = place(&by.organization, &account, &new.name);
                    let query = of(SET, &by.organization, &account).bind(new.name.to_string()).bind(new.is_sensitive);
                    let query = query.bind(key.seal(place, new.value.expose())?).bind(key.id().to_owned());
                    let query = query.bind(by.user().to_string()).bind(now.as_milliseconds());
                    require_changed(query.execute(&mut *connection).await?, "user")?;
                    connection.announce(Change::of_user(ChangeKind::UserVariables, &by.organization, &account));
                    let count = of(COUNT, &by.organization, &account).bind(new.is_sensitive);
                    require_within(
                        VARIABLES_MAX,
                        count.fetch_column("variables", connection).await?,
                        "variables of each kind per user",
                    )
                })
            })
            .await
    }

    /// Removes a variable of a user. [`crate::Error::NotFound`] when it does not exist.
    pub async fn remove_user_variable(
        &self,
        organization: &OrganizationId,
        account: &AccountId,
        name: &UserVariableName,
    ) -> Result<()> {
        let query = of(REMOVE, organization, account).bind(name.to_string());
        let change = Change::of_user(ChangeKind::UserVariables, organization, account);
        self.store
            .write(move |connection| {
                Box::pin(async move {
                    require_changed(query.execute(&mut *connection).await?, "variable")?;
                    connection.announce(change);
                    Ok(())
                })
            })
            .await
    }

    /// Lists the variables of a user, without the values of the sensitive ones. Empty for a user who does not exist.
    pub async fn list_user_variables(
        &self,
        organization: &OrganizationId,
        account: &AccountId,
    ) -> Result<Vec<ShownUserVariable>> {
        let rows = of(LIST, organization, account).fetch_all(self.store.readers()).await?;
        let mut shown = Vec::with_capacity(rows.len());
        for row in &rows {
            let variable = read_sealed(row)?;
            let value = match variable.is_sensitive {
                true => None,
                false => Some(self.open_variable(organization, account, &variable).await?),
            };
            let (updated_by, updated_at) = (parse_column(row, "updated_by")?, read_timestamp(row, "updated_at")?);
            shown.push(ShownUserVariable { name: variable.name, value, updated_by, updated_at });
        }
        Ok(shown)
    }

    /// Returns the variables of a user with their values. The encrypted ones are cached: a change by this server is visible
    /// immediately, a change by another process within a second.
    pub async fn user_variables(&self, organization: &OrganizationId, account: &AccountId) -> Result<UserVariables> {
        let mut opened = UserVariables::default();
        for variable in &*self.read_sealed_user_variables(organization, account).await? {
            let (name, value) = (variable.name.clone(), self.open_variable(organization, account, variable).await?);
            if variable.is_sensitive {
                opened.sensitive.insert(name, SecretValue::new(value));
            } else {
                opened.nonsensitive.insert(name, value);
            }
        }
        Ok(opened)
    }

    async fn read_sealed_user_variables(
        &self,
        organization: &OrganizationId,
        account: &AccountId,
    ) -> Result<Arc<[SealedUserVariable]>> {
        let key = (organization.clone(), account.clone());
        if let Some(found) = self.store.0.kept.caches.user_variables.get(&key) {
            return Ok(found);
        }
        let read_start = self.store.0.kept.caches.user_variables.read_start();
        let rows = of(LIST, organization, account).fetch_all(self.store.readers()).await?;
        let found: Arc<[_]> = rows.iter().map(read_sealed).collect::<Result<_>>()?;
        self.store.0.kept.caches.user_variables.insert_read(&read_start, key, found.clone());
        Ok(found)
    }

    async fn open_variable(
        &self,
        organization: &OrganizationId,
        account: &AccountId,
        variable: &SealedUserVariable,
    ) -> Result<String> {
        let key = self.get_data_key(organization).await?;
        Ok(key.open(place(organization, account, &variable.name), &variable.sealed)?.to_string())
    }
}

fn place<'a>(organization: &'a OrganizationId, account: &'a AccountId, name: &'a UserVariableName) -> SealedFor<'a> {
    SealedFor { organization, owner: VariableOwner::User(account), name: name.as_str() }
}

fn read_sealed(row: &Row) -> Result<SealedUserVariable> {
    let (name, is_sensitive) = (parse_column(row, "name")?, get(row, "is_sensitive")?);
    Ok(SealedUserVariable { name, is_sensitive, sealed: get(row, "sealed")? })
}

/// Binds the organisation and the account as `$1` and `$2`.
fn of(statement: &'static str, organization: &OrganizationId, account: &AccountId) -> Query {
    Query::new(statement).bind(organization.to_string()).bind(account.as_str())
}
