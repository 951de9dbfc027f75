//! Finding the last runs of a version that can be replayed.

use super::row::{parsed, signed};
use crate::error::Result;
use crate::ids::InvocationId;
use crate::store::handle::Store;
use crate::tool_version::ToolVersion;

const LAST: &str = concat!(
    "SELECT s.invocation FROM inv_started s",
    read_through!("inv_started_by_tool"),
    " CROSS JOIN tapes t ON t.invocation = s.invocation
    WHERE s.organization = $1 AND s.tool = $2 AND s.major = $3 AND s.minor = $4 AND s.patch = $5
        AND t.sealed IS NOT NULL AND t.expires_at > ",
    database_now!(),
    " ORDER BY s.started_at DESC LIMIT $6"
);

impl Store {
    /// Lists the last runs of a version that have complete tapes, newest first. Subject to the time limit of lists:
    /// [`crate::Error::QueryTooSlow`].
    pub async fn taped_runs(&self, version: &ToolVersion, limit: u32) -> Result<Vec<InvocationId>> {
        let mut listing = self.listing(&version.organization).await?;
        let query = sqlx::query(LAST).bind(version.organization.as_str()).bind(version.tool.as_str());
        let number = version.version;
        let query = query.bind(signed(number.major)).bind(signed(number.minor)).bind(signed(number.patch));
        let rows = listing.rows(query.bind(limit)).await?;
        rows.iter().map(|row| parsed(row, "invocation")).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::plans::plan;
    use super::LAST;

    #[tokio::test]
    async fn runs_are_read_newest_first() {
        let steps = plan(LAST).await.unwrap();
        assert!(steps[0].contains("inv_started_by_tool (organization=? AND tool=?)"), "{steps:?}");
        assert!(!steps.iter().any(|step| step.contains("TEMP B-TREE")), "{steps:?}");
    }
}
