//! The rules that the server enforces: those that a user wrote, and no model.

use registry::statements::{Query, get, parse_column, to_json};
use registry::{ApiName, Result, ToolId};

use super::item::{Library, read};
use crate::domain::library::LibraryItem;

/// Rules outside of applications count in all of them.
const TRUSTED_RULES: &str = "SELECT * FROM library_items
    WHERE organization = $1 AND family = 'rules' AND owner = $2 AND app IN ('', $3) AND deleted_at IS NULL
        AND is_trusted = $4 ORDER BY item DESC LIMIT $5";

/// Live tools with one of the names.
const NAMED: &str = "SELECT tool, name FROM tools
    WHERE organization = $1 AND deprecated = 0 AND name IN {members $2}";

impl Library {
    /// Whether the organisation has a live tool with a name, or one with an API whose calls rules know by the name: `TOOL_API`.
    pub async fn has_tool(&self, name: &str) -> Result<bool> {
        let organization = &self.scope.organization;
        let of_apis = name.match_indices('_').map(|(end, _)| &name[..end]);
        let names: Vec<&str> = of_apis.chain([name]).collect();
        let query = Query::new(NAMED).bind(organization.as_str()).bind(to_json(&names)?);
        for row in query.fetch_all(self.store.readers()).await? {
            let found: &str = get(&row, "name")?;
            let Some(api) = name.strip_prefix(found).and_then(|rest| rest.strip_prefix('_')) else { return Ok(true) };
            let tool: ToolId = parse_column(&row, "tool")?;
            let highest = self.store.registry().versions().highest_version(organization, &tool).await?;
            let has_api =
                |api: &ApiName| highest.as_ref().is_some_and(|highest| highest.settings.apis.contains_key(api));
            if ApiName::parse(api).is_ok_and(|api| has_api(&api)) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Returns the rules that the user wrote, the newest, at most `limit`.
    pub async fn list_trusted_rules(&self, limit: u32) -> Result<Vec<LibraryItem>> {
        let query = Query::new(TRUSTED_RULES).bind(self.scope.organization.as_str()).bind(self.scope.account.as_str());
        let query = query.bind(self.scope.stored_app()).bind(true).bind(i64::from(limit));
        query.fetch_all(self.store.readers()).await?.iter().map(read).collect()
    }
}
