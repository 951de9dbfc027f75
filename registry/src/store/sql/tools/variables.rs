//! Opening the variables of a tool for a run.

use super::handle::Tools;
use crate::error::Result;
use crate::kit::account::OrganizationId;
use crate::kit::ids::ToolId;
use crate::secrets::{SealedFor, VariableOwner};
use crate::store::database::{Connection, Query, Row};
use crate::store::sql::kit::row::{get, parse_column};
use crate::tools::{SecretValue, ToolRef, Variables};
use crate::versions::{Callable, SealedVariable};

const SELECT: &str = "SELECT name, is_secret, sealed FROM envvars WHERE organization = $1 AND tool = $2";

impl Tools {
    /// Returns the variables of a tool with their values. Empty when the tool does not exist.
    pub async fn tool_variables(&self, organization: &OrganizationId, tool: &ToolId) -> Result<Variables> {
        let mut connection = self.store.readers().acquire().await?;
        let sealed = read_sealed(&mut connection, ToolRef { organization, tool }).await?;
        drop(connection);
        self.open_variables(organization, tool, &sealed).await
    }

    /// Returns the variables with the values that they had when the callable was read.
    pub async fn variables_of(&self, callable: &Callable) -> Result<Variables> {
        self.open_variables(&callable.version.organization, &callable.version.tool, &callable.variables).await
    }

    async fn open_variables(
        &self,
        organization: &OrganizationId,
        tool: &ToolId,
        sealed: &[SealedVariable],
    ) -> Result<Variables> {
        let mut variables = Variables::default();
        if sealed.is_empty() {
            return Ok(variables);
        }
        let key = self.store.access().get_data_key(organization).await?;
        for SealedVariable { name, is_secret, sealed } in sealed {
            let value =
                key.open(SealedFor { organization, owner: VariableOwner::Tool(tool), name: name.as_str() }, sealed)?;
            if *is_secret {
                variables.secrets.insert(name.clone(), SecretValue::new(value.to_string()));
            } else {
                variables.envvars.insert(name.clone(), value.to_string());
            }
        }
        Ok(variables)
    }
}

pub(in crate::store::sql) async fn read_sealed(
    connection: &mut Connection,
    of: ToolRef<'_>,
) -> Result<Vec<SealedVariable>> {
    let query = Query::new(SELECT).bind(of.organization.as_str()).bind(of.tool.as_str());
    let rows = query.fetch_all(connection).await?;
    rows.iter().map(read).collect()
}

fn read(row: &Row) -> Result<SealedVariable> {
    let (name, is_secret) = (parse_column(row, "name")?, get(row, "is_secret")?);
    Ok(SealedVariable { name, is_secret, sealed: get(row, "sealed")? })
}
