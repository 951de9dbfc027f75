//! Opening the variables of a tool for a run.

use super::dialect::Row;
use super::row::{get, parsed};
use crate::account::OrganizationId;
use crate::error::Result;
use crate::ids::ToolId;
use crate::names::EnvvarName;
use crate::secrets::SealedFor;
use crate::store::Store;
use crate::variables::{SecretValue, Variables};

const SELECT: &str = "SELECT e.name, e.is_secret, e.sealed, o.data_key_id, o.data_key FROM envvars e
    JOIN organizations o ON o.organization = e.organization
    WHERE e.organization = $1 AND e.tool = $2";

impl Store {
    /// The variables of a tool with their values. Empty when there is no such tool.
    pub async fn tool_variables(&self, organization: &OrganizationId, tool: &ToolId) -> Result<Variables> {
        let query = sqlx::query(SELECT).bind(organization.as_str()).bind(tool.as_str());
        let rows = query.fetch_all(self.readers()).await?;
        let mut variables = Variables::default();
        for row in &rows {
            self.open_into(&mut variables, row, organization, tool)?;
        }
        Ok(variables)
    }

    fn open_into(
        &self,
        variables: &mut Variables,
        row: &Row,
        organization: &OrganizationId,
        tool: &ToolId,
    ) -> Result<()> {
        let name: EnvvarName = parsed(row, "name")?;
        let key = self.0.keys.unwrap(organization, get(row, "data_key_id")?, get(row, "data_key")?)?;
        let value = key.open(SealedFor { organization, tool, name: &name }, get(row, "sealed")?)?;
        if get(row, "is_secret")? {
            variables.secrets.insert(name, SecretValue::new(value.to_string()));
        } else {
            variables.envvars.insert(name, value.to_string());
        }
        Ok(())
    }
}
