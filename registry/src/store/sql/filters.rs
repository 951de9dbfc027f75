//! The filters that lists of the history and searches in it share.

use super::dialect::Query;
use super::row::{signed, to_list};
use crate::account::OrganizationId;
use crate::error::Result;
use crate::history::{InvocationFilter, ToolSelection};
use crate::store::Store;

/// The filters of lists and searches, `$2` to `$7`; null means any. What goes on has no end to show yet.
macro_rules! filtered {
    () => {
        concat!(
            " AND ($2 IS NULL OR EXISTS (SELECT 1 FROM ",
            rows_of!("$2"),
            " wanted WHERE s.tool = wanted.value ->> 0
                AND (wanted.value ->> 1 IS NULL OR (s.major = wanted.value ->> 1
                    AND s.minor = wanted.value ->> 2 AND s.patch = wanted.value ->> 3))))
            AND ($3 IS NULL OR s.source_kind IN ",
            members_of!("$3"),
            ")
            AND ($4 IS NULL OR (u.invocation IS NULL AND s.conversation_id IN ",
            members_of!("$4"),
            "))
            AND ($5 IS NULL OR (u.invocation IS NULL AND s.simulation_run_id IN ",
            members_of!("$5"),
            "))
            AND ($6 IS NULL OR f.succeeded = $6)
            AND ($7 IS NULL OR f.persisted = $7)
            AND f.sequence IS NOT NULL "
        )
    };
}
pub(super) use filtered;

/// Tool, major, minor, patch.
type SelectedTool = (String, Option<i64>, Option<i64>, Option<i64>);

/// A filter as JSON arrays and flags.
pub(super) struct Filters {
    tools: Option<String>,
    kinds: Option<String>,
    conversations: Option<String>,
    simulations: Option<String>,
    succeeded: Option<bool>,
    persisted: Option<bool>,
}

impl Filters {
    /// Binds `$1` to `$7`.
    pub(super) fn bound_to(self, statement: &'static str, first: String) -> Query {
        let query = sqlx::query(statement).bind(first).bind(self.tools).bind(self.kinds).bind(self.conversations);
        query.bind(self.simulations).bind(self.succeeded).bind(self.persisted)
    }
}

impl Store {
    /// Turns a filter into what the statements bind.
    pub(super) async fn bind_filters(
        &self,
        organization: &OrganizationId,
        filter: &InvocationFilter,
    ) -> Result<Filters> {
        let mut tools = Vec::new();
        for selection in &filter.tools {
            tools.extend(self.selected(organization, selection).await?);
        }
        Ok(Filters {
            tools: to_list(&tools)?,
            kinds: to_list(&filter.source_kinds)?,
            conversations: to_list(&filter.conversation_ids)?,
            simulations: to_list(&filter.simulation_unit_test_set_run_ids)?,
            succeeded: filter.succeeded,
            persisted: filter.persisted,
        })
    }

    /// A tool with each version that is meant; with an impossible one when no version is.
    async fn selected(&self, organization: &OrganizationId, selection: &ToolSelection) -> Result<Vec<SelectedTool>> {
        let tool = selection.tool.as_str();
        let Some(constraint) = &selection.versions else {
            return Ok(vec![(tool.to_owned(), None, None, None)]);
        };
        let versions = self.matching_versions(organization, &selection.tool, constraint).await?;
        let numbers = versions.iter().map(|v| (signed(v.major), signed(v.minor), signed(v.patch)));
        let rows = numbers.map(|(major, minor, patch)| (tool.to_owned(), Some(major), Some(minor), Some(patch)));
        let rows: Vec<_> = rows.collect();
        let none = (tool.to_owned(), Some(-1), Some(-1), Some(-1));
        Ok(if rows.is_empty() { vec![none] } else { rows })
    }
}
