//! Creating, finding, changing and deprecating tools.

use super::edit::ToolEdit;
use super::handle::Tools;
use crate::access::Principal;
use crate::error::{Error, Result};
use crate::kit::account::OrganizationId;
use crate::kit::ids::{RunId, ToolId};
use crate::store::database::{Connection, Query, Row};
use crate::store::sql::kit::row::{damaged, get, parse_column, read_json, read_timestamp, to_json};
use crate::store::sql::versions::leases::interrupt_expired;
use crate::tools::{EnvvarName, NewTool, Tags, Tool, ToolChanges, ToolName, ToolRef};

/// The columns of a tool, with the names of its variables.
macro_rules! select_tools {
    ($($rest:expr),*) => {
        concat!(
            "SELECT t.*,
                (SELECT string_agg(name, ',' ORDER BY name) FROM envvars e
                    WHERE e.organization = t.organization AND e.tool = t.tool AND is_secret = 0) AS plain_names,
                (SELECT string_agg(name, ',' ORDER BY name) FROM envvars e
                    WHERE e.organization = t.organization AND e.tool = t.tool AND is_secret = 1) AS secret_names
            FROM tools t ",
            $($rest),*
        )
    };
}
pub(super) use select_tools;

impl Tools {
    /// Creates a tool. [`Error::Exists`] when a live tool of the organisation has the name.
    pub async fn create_tool(&self, principal: &Principal, new: NewTool) -> Result<ToolId> {
        let created = ToolId::new(&self.store.0.clock);
        let edit = self.build_edit(principal, &created);
        self.store
            .write(move |connection| {
                Box::pin(async move {
                    insert(connection, &edit, &new).await?;
                    insert_tags(connection, edit.tool(), &new.tags).await
                })
            })
            .await?;
        Ok(created)
    }

    /// Finds a tool, deprecated or not.
    pub async fn get_tool(&self, organization: &OrganizationId, tool: &ToolId) -> Result<Option<Tool>> {
        let mut connection = self.store.readers().acquire().await?;
        find(&mut connection, ToolRef { organization, tool }).await
    }

    /// Finds the tool of a run. The test of a branch has none.
    pub async fn get_tool_of(&self, organization: &OrganizationId, invocation: &RunId) -> Result<Option<Tool>> {
        let query = Query::new(select_tools!(
            "JOIN inv_started s ON s.organization = t.organization AND s.tool = t.tool
            WHERE s.organization = $1 AND s.invocation = $2"
        ));
        let query = query.bind(organization.as_str()).bind(invocation.as_str());
        let row = query.fetch_optional(self.store.readers()).await?;
        row.as_ref().map(read).transpose()
    }

    /// Finds the live tool with this name.
    pub async fn find_live_tool(&self, organization: &OrganizationId, name: &ToolName) -> Result<Option<Tool>> {
        let query = Query::new(select_tools!("WHERE t.organization = $1 AND t.name = $2 AND t.deprecated = 0"));
        let row = query.bind(organization.as_str()).bind(name.as_str()).fetch_optional(self.store.readers()).await?;
        row.as_ref().map(read).transpose()
    }

    /// Changes the description or the tags of a live tool.
    pub async fn modify_tool(&self, principal: &Principal, tool: &ToolId, changes: ToolChanges) -> Result<()> {
        let edit = self.build_edit(principal, tool);
        self.store.write(move |connection| Box::pin(async move { modify(connection, &edit, &changes).await })).await
    }

    /// Deprecates a live tool and all its versions, and frees its name. [`Error::Busy`] while a publication runs.
    pub async fn deprecate_tool(&self, principal: &Principal, tool: &ToolId) -> Result<()> {
        let edit = self.build_edit(principal, tool);
        self.store
            .write(move |connection| {
                Box::pin(async move {
                    edit.touch(connection).await?;
                    interrupt_expired(connection, edit.tool(), edit.now).await?;
                    deprecate(connection, &edit).await
                })
            })
            .await
    }
}

/// Finds a tool, deprecated or not, on a connection.
pub(in crate::store::sql) async fn find(connection: &mut Connection, of: ToolRef<'_>) -> Result<Option<Tool>> {
    let query = Query::new(select_tools!("WHERE t.organization = $1 AND t.tool = $2"));
    let row = query.bind(of.organization.as_str()).bind(of.tool.as_str()).fetch_optional(connection).await?;
    row.as_ref().map(read).transpose()
}

pub(super) fn read(row: &Row) -> Result<Tool> {
    Ok(Tool {
        id: parse_column(row, "tool")?,
        organization: parse_column(row, "organization")?,
        name: parse_column(row, "name")?,
        description: parse_column(row, "description")?,
        tags: read_json(row, "tags")?,
        deprecated: get(row, "deprecated")?,
        envvars: names(row, "plain_names")?,
        secret_envvars: names(row, "secret_names")?,
        creator: parse_column(row, "creator")?,
        updated_by: parse_column(row, "updated_by")?,
        created_at: read_timestamp(row, "created_at")?,
        updated_at: read_timestamp(row, "updated_at")?,
    })
}

/// Reads the names of variables, which are separated by commas.
fn names(row: &Row, column: &'static str) -> Result<Vec<EnvvarName>> {
    let names: Option<&str> = get(row, column)?;
    let names = names.into_iter().flat_map(|names| names.split(','));
    names.map(|name| EnvvarName::parse(name).map_err(|error| damaged(column, &error))).collect()
}

async fn insert(connection: &mut Connection, edit: &ToolEdit, new: &NewTool) -> Result<()> {
    let statement = "INSERT INTO tools (organization, tool, name, description, tags, deprecated, creator, updated_by,
            created_at, updated_at, sequence)
        SELECT $1, $2, $3, $4, $5, 0, $6, $6, $7, $7, coalesce(max(sequence), 0) + 1 FROM tools WHERE organization = $1";
    let query = Query::new(statement).bind(edit.principal.organization.as_str()).bind(edit.tool.as_str());
    let query = query.bind(new.name.as_str()).bind(new.description.as_str()).bind(to_json(&new.tags)?);
    let inserted =
        query.bind(edit.principal.user().as_str()).bind(edit.now.as_milliseconds()).execute(connection).await;
    match inserted {
        Err(failure) if failure.is_conflict() => Err(Error::Exists { what: "tool", name: new.name.to_string() }),
        other => other.map(|_| ()).map_err(Error::from),
    }
}

async fn insert_tags(connection: &mut Connection, of: ToolRef<'_>, tags: &Tags) -> Result<()> {
    for (key, value) in tags.iter() {
        Query::new("INSERT INTO tool_tags (organization, tool, key, value) VALUES ($1, $2, $3, $4)")
            .bind(of.organization.as_str())
            .bind(of.tool.as_str())
            .bind(key)
            .bind(value)
            .execute(&mut *connection)
            .await?;
    }
    Ok(())
}

async fn modify(connection: &mut Connection, edit: &ToolEdit, changes: &ToolChanges) -> Result<()> {
    edit.touch(connection).await?;
    let (organization, tool) = (edit.principal.organization.as_str(), edit.tool.as_str());
    let statement = "UPDATE tools SET description = coalesce($1, description), tags = coalesce($2, tags)
        WHERE organization = $3 AND tool = $4";
    let query = Query::new(statement).bind(changes.description.as_ref().map(|text| text.as_str()));
    let query = query.bind(changes.tags.as_ref().map(to_json).transpose()?);
    query.bind(organization).bind(tool).execute(&mut *connection).await?;
    let Some(tags) = &changes.tags else {
        return Ok(());
    };
    let delete = Query::new("DELETE FROM tool_tags WHERE organization = $1 AND tool = $2");
    delete.bind(organization).bind(tool).execute(&mut *connection).await?;
    insert_tags(connection, edit.tool(), tags).await
}

async fn deprecate(connection: &mut Connection, edit: &ToolEdit) -> Result<()> {
    let (organization, tool) = (edit.principal.organization.as_str(), edit.tool.as_str());
    let tools = "UPDATE tools SET deprecated = 1 WHERE organization = $1 AND tool = $2";
    let query = Query::new(tools).bind(organization).bind(tool);
    query.execute(&mut *connection).await?;
    let versions = "UPDATE versions SET deprecated = 1, updated_by = $3, updated_at = $4
        WHERE organization = $1 AND tool = $2 AND deprecated = 0";
    let query = Query::new(versions).bind(organization).bind(tool);
    query.bind(edit.principal.user().as_str()).bind(edit.now.as_milliseconds()).execute(connection).await?;
    Ok(())
}
