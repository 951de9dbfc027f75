//! Changing the variables of a tool, all or nothing. All values are sealed, also those of plain variables.

use super::edit::ToolEdit;
use super::handle::Tools;
use crate::access::Principal;
use crate::error::{Error, Result};
use crate::kit::ids::ToolId;
use crate::kit::invalid_value::InvalidValue;
use crate::secrets::{DataKey, KeyRing, SealedFor, VariableOwner};
use crate::store::database::{Connection, Query};
use crate::store::sql::access::keys::read_data_key;
use crate::store::sql::kit::counts::require_within;
use crate::store::sql::kit::row::read_version;
use crate::tools::{EnvvarChanges, EnvvarInsert, EnvvarName, EnvvarUpdate, SecretValue};

/// Variables of one tool. Each run opens all of them.
const VARIABLES_MAX: u64 = 100;
/// Bytes of a value. Fits a certificate chain.
const VALUE_BYTES_MAX: usize = 32 * 1024;

const REQUIRED_BY: &str = "SELECT major, minor, patch FROM versions v
    WHERE organization = $1 AND tool = $2 AND deprecated = 0 AND (
        $3 IN {members v.required_envvars} OR $3 IN {members v.required_secret_envvars})
    ORDER BY major DESC, minor DESC, patch DESC LIMIT 1";

/// An open transaction on the variables of a tool, with the key that seals them.
struct VariableEditor<'a> {
    connection: &'a mut Connection,
    edit: ToolEdit,
    key: DataKey,
}

impl Tools {
    /// Applies the changes together. [`Error::Exists`] when an inserted variable exists, [`Error::VariableUnknown`] when an
    /// updated or deleted one does not exist, [`Error::VariableRequired`] when a live version requires a deleted one.
    pub async fn modify_envvars(&self, principal: &Principal, tool: &ToolId, changes: EnvvarChanges) -> Result<()> {
        check_sizes(&changes)?;
        let (edit, keys) = (self.build_edit(principal, tool), self.store.0.keys.clone());
        self.store
            .write(move |connection| {
                Box::pin(async move { VariableEditor::begin(connection, edit, &keys).await?.apply(&changes).await })
            })
            .await
    }
}

fn check_sizes(changes: &EnvvarChanges) -> Result<()> {
    let inserted = changes.inserts.iter().map(|insert| &insert.value);
    let updated = changes.updates.iter().map(|update| &update.value);
    let fits = |value: &SecretValue| value.expose().len() <= VALUE_BYTES_MAX;
    if inserted.chain(updated).all(fits) {
        return Ok(());
    }
    Err(InvalidValue::new("variable value", "must have at most 32768 bytes").into())
}

impl<'a> VariableEditor<'a> {
    async fn begin(connection: &'a mut Connection, edit: ToolEdit, keys: &KeyRing) -> Result<Self> {
        edit.touch(connection).await?;
        let key = read_data_key(connection, &edit.principal.organization, keys).await?;
        Ok(Self { connection, edit, key })
    }

    async fn apply(&mut self, changes: &EnvvarChanges) -> Result<()> {
        for name in &changes.deletes {
            self.delete(name).await?;
        }
        for update in &changes.updates {
            self.update(update).await?;
        }
        for insert in &changes.inserts {
            self.insert(insert).await?;
        }
        self.check_count().await
    }

    async fn delete(&mut self, name: &EnvvarName) -> Result<()> {
        let query =
            Query::new(REQUIRED_BY).bind(self.edit.principal.organization.as_str()).bind(self.edit.tool.as_str());
        let required_by = query.bind(name.as_str()).fetch_optional(&mut *self.connection).await?;
        if let Some(row) = required_by {
            return Err(Error::VariableRequired { name: name.clone(), version: read_version(&row)? });
        }
        let statement = "DELETE FROM envvars WHERE organization = $1 AND tool = $2 AND name = $3";
        let query = Query::new(statement).bind(self.edit.principal.organization.as_str()).bind(self.edit.tool.as_str());
        let deleted = query.bind(name.as_str()).execute(&mut *self.connection).await?;
        require_existing(deleted, name)
    }

    async fn update(&mut self, update: &EnvvarUpdate) -> Result<()> {
        let sealed = self.seal(&update.name, &update.value)?;
        let statement = "UPDATE envvars SET sealed = $4, key_id = $5, updated_by = $6, updated_at = $7
            WHERE organization = $1 AND tool = $2 AND name = $3";
        let query = Query::new(statement).bind(self.edit.principal.organization.as_str()).bind(self.edit.tool.as_str());
        let query = query.bind(update.name.as_str()).bind(sealed).bind(self.key.id());
        let query = query.bind(self.edit.principal.user().as_str()).bind(self.edit.now.as_milliseconds());
        require_existing(query.execute(&mut *self.connection).await?, &update.name)
    }

    async fn insert(&mut self, insert: &EnvvarInsert) -> Result<()> {
        let sealed = self.seal(&insert.name, &insert.value)?;
        let statement = "INSERT INTO envvars
            (organization, tool, name, is_secret, sealed, key_id, creator, updated_by, created_at, updated_at)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $7, $8, $8)";
        let query = Query::new(statement).bind(self.edit.principal.organization.as_str()).bind(self.edit.tool.as_str());
        let query = query.bind(insert.name.as_str()).bind(insert.is_secret).bind(sealed).bind(self.key.id());
        let query = query.bind(self.edit.principal.user().as_str()).bind(self.edit.now.as_milliseconds());
        match query.execute(&mut *self.connection).await {
            Err(failure) if failure.is_conflict() => {
                Err(Error::Exists { what: "variable", name: insert.name.to_string() })
            }
            other => other.map(|_| ()).map_err(Error::from),
        }
    }

    fn seal(&self, name: &EnvvarName, value: &SecretValue) -> Result<Vec<u8>> {
        let owner = VariableOwner::Tool(&self.edit.tool);
        let row = SealedFor { organization: &self.edit.principal.organization, owner, name: name.as_str() };
        self.key.seal(row, value.expose())
    }

    async fn check_count(&mut self) -> Result<()> {
        let statement = "SELECT count(*) AS variables FROM envvars WHERE organization = $1 AND tool = $2";
        let query = Query::new(statement).bind(self.edit.principal.organization.as_str()).bind(self.edit.tool.as_str());
        require_within(
            VARIABLES_MAX,
            query.fetch_column("variables", &mut *self.connection).await?,
            "variables per tool",
        )
    }
}

fn require_existing(rows_affected: u64, name: &EnvvarName) -> Result<()> {
    if rows_affected == 0 { Err(Error::VariableUnknown { name: name.clone() }) } else { Ok(()) }
}
