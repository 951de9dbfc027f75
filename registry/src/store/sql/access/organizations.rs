//! The list of organisations, for the operator.

use super::handle::Access;
use crate::access::Organization;
use crate::error::Result;
use crate::store::database::Query;
use crate::store::sql::kit::row::{parse_column, read_timestamp, read_unsigned};

const LIST: &str = "SELECT organization, created_at,
        (SELECT count(*) FROM members m WHERE m.organization = o.organization) AS users,
        (SELECT count(*) FROM tools t WHERE t.organization = o.organization AND deprecated = 0) AS tools
    FROM organizations o ORDER BY organization";

impl Access {
    /// Lists all organisations by name.
    pub async fn list_organizations(&self) -> Result<Vec<Organization>> {
        let rows = Query::new(LIST).fetch_all(self.store.readers()).await?;
        let read = |row| {
            Ok(Organization {
                id: parse_column(row, "organization")?,
                created_at: read_timestamp(row, "created_at")?,
                users: read_unsigned(row, "users")?,
                tools: read_unsigned(row, "tools")?,
            })
        };
        rows.iter().map(read).collect()
    }
}
