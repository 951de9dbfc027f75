//! Finding the last runs of a version that can be replayed.

use super::handle::History;
use crate::error::Result;
use crate::kit::ids::RunId;
use crate::store::database::Query;
use crate::store::sql::kit::row::{parse_column, to_signed};
use crate::versions::ToolVersion;

/// The cross join keeps planners from beginning with the tapes.
pub(in crate::store) const LAST: &str =
    "SELECT s.invocation FROM inv_started s {index inv_started_by_tool} CROSS JOIN tapes t
    WHERE s.organization = $1 AND s.tool = $2 AND s.major = $3 AND s.minor = $4 AND s.patch = $5
        AND t.invocation = s.invocation AND t.sealed IS NOT NULL AND t.expires_at > {now}
    ORDER BY s.started_at DESC LIMIT $6";

impl History {
    /// Lists the last runs of a version that have complete tapes, newest first. Subject to the time limit of lists:
    /// [`crate::Error::QueryTooSlow`].
    pub async fn taped_runs(&self, version: &ToolVersion, limit: u32) -> Result<Vec<RunId>> {
        let mut listing = self.store.open_listing(&version.organization).await?;
        let query = Query::new(LAST).bind(version.organization.as_str()).bind(version.tool.as_str());
        let number = version.version;
        let query = query.bind(to_signed(number.major)).bind(to_signed(number.minor)).bind(to_signed(number.patch));
        let rows = listing.rows(query.bind(limit)).await?;
        rows.iter().map(|row| parse_column(row, "invocation")).collect()
    }
}
