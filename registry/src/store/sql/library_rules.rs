//! The rules that the server enforces: those that a user wrote, and no model.

use super::library::{Library, read};
use crate::error::Result;
use crate::library::LibraryItem;
use crate::store::database::Query;

/// Rules outside of applications count in all of them.
const TRUSTED_RULES: &str = "SELECT * FROM library_items
    WHERE organization = $1 AND family = 'rules' AND owner = $2 AND app IN ('', $3) AND deleted_at IS NULL
        AND is_trusted = $4 ORDER BY item DESC LIMIT $5";

impl Library {
    /// Returns the rules that the user wrote, the newest, at most `limit`.
    pub async fn trusted_rules(&self, limit: u32) -> Result<Vec<LibraryItem>> {
        let query = Query::new(TRUSTED_RULES).bind(self.scope.organization.as_str()).bind(self.scope.account.as_str());
        let query = query.bind(self.scope.stored_app()).bind(true).bind(i64::from(limit));
        query.fetch_all(self.store.readers()).await?.iter().map(read).collect()
    }
}
