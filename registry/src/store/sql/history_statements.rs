//! The statements that list the history. The statement depends on the filter and the order, so that most pages are read from
//! an index in their order, without the records after the page.
//!
//! `$1` is the organisation, `$2` to `$8` are the filters, `$9` and `$10` the start and id of the last record of the previous
//! page, `$11` is the number of rows. A sorted list has three sort keys, each a column name and 1 or -1, as `$12` to `$17`.
//! The keys of the last record are `$18` to `$20`.

use super::filters::filtered;
use super::record_pages::short_columns;
use crate::history::{InvocationFilter, InvocationSort};
use crate::page::Direction;

/// A list, from the tables, the condition for the first table, the condition that a record comes after the last one, and the
/// order.
macro_rules! list {
    ($from:expr, $leading:expr, $behind:expr, $order:expr) => {
        concat!(
            "SELECT ",
            short_columns!(),
            " FROM ",
            $from,
            " LEFT JOIN inv_unlinked u ON u.invocation = s.invocation WHERE s.organization = $1 ",
            $leading,
            filtered!("$1"),
            $behind,
            "ORDER BY ",
            $order,
            "s.started_at DESC, s.invocation DESC LIMIT $11"
        )
    };
}

macro_rules! records {
    () => {
        "inv_started s LEFT JOIN inv_finished f ON f.invocation = s.invocation"
    };
}

/// The records of conversations, which are few.
macro_rules! records_of_conversations {
    () => {
        concat!(
            "(SELECT DISTINCT value AS conversation FROM ",
            rows_of!("$4"),
            ") wanted CROSS JOIN inv_started s LEFT JOIN inv_finished f ON f.invocation = s.invocation"
        )
    };
}

macro_rules! of_conversations {
    () => {
        "AND s.conversation_id = wanted.conversation "
    };
}

/// The records of one tool, through an index that has them in order of age.
macro_rules! records_of_one_tool {
    () => {
        concat!(
            "inv_started s",
            read_through!("inv_started_by_tool"),
            "LEFT JOIN inv_finished f ON f.invocation = s.invocation"
        )
    };
}

macro_rules! of_tools {
    () => {
        concat!("AND s.tool IN (SELECT value ->> 0 FROM ", rows_of!("$2"), ")")
    };
}

macro_rules! of_one_tool {
    () => {
        concat!("AND s.tool = (SELECT value ->> 0 FROM ", rows_of!("$2"), " LIMIT 1)")
    };
}

macro_rules! newest_first {
    ($from:expr, $leading:expr) => {
        list!($from, $leading, "AND (s.started_at, s.invocation) < ($9, $10) ", "")
    };
}

/// A sort key. 0 without a column name.
macro_rules! key {
    ($column:literal, $sign:literal) => {
        concat!(
            "(CASE ",
            $column,
            " WHEN 'created_at' THEN s.started_at WHEN 'duration_ms' THEN f.duration_ms
                WHEN 'succeeded' THEN f.succeeded ELSE 0 END * ",
            $sign,
            ")"
        )
    };
}

macro_rules! keys {
    () => {
        concat!(key!("$12", "$13"), ", ", key!("$14", "$15"), ", ", key!("$16", "$17"))
    };
}

macro_rules! behind {
    () => {
        concat!(
            "AND ((",
            keys!(),
            ") > ($18, $19, $20) OR ((",
            keys!(),
            ") = ($18, $19, $20) AND (s.started_at, s.invocation) < ($9, $10))) "
        )
    };
}

macro_rules! sorted {
    ($from:expr, $leading:expr) => {
        list!($from, $leading, behind!(), concat!(keys!(), ", "))
    };
}

/// A list in the order of an index, with the other keys for ties. `$order` repeats the first key and `$range` its part of
/// `behind!`, both in terms of columns for which the planner finds an index.
macro_rules! in_order_of {
    ($from:expr, $range:literal, $order:literal) => {
        list!($from, $range, behind!(), concat!($order, key!("$14", "$15"), ", ", key!("$16", "$17"), ", "))
    };
}

macro_rules! ends {
    () => {
        "inv_finished f CROSS JOIN inv_started s"
    };
}

/// Returns the statement for a filter, and whether it has sort keys.
pub(super) fn statement(filter: &InvocationFilter) -> (&'static str, bool) {
    use Direction::{Ascending, Descending};
    use InvocationSort::{CreatedAt, DurationMs};
    let has_keys = !matches!(filter.sort.as_slice(), [] | [(CreatedAt, Descending)]);
    let tools = filter.tools.as_slice();
    let one_tool = tools.first().is_some_and(|first| tools.iter().all(|other| other.tool == first.tool));
    let statement = match (filter.conversation_ids.is_empty(), tools.is_empty(), has_keys) {
        (false, _, false) => newest_first!(records_of_conversations!(), of_conversations!()),
        (false, _, true) => sorted!(records_of_conversations!(), of_conversations!()),
        (true, false, false) if one_tool => newest_first!(records_of_one_tool!(), of_one_tool!()),
        (true, false, false) => newest_first!(records!(), of_tools!()),
        (true, false, true) => sorted!(records!(), of_tools!()),
        (true, true, false) => newest_first!(records!(), ""),
        (true, true, true) => match filter.sort.first() {
            Some((CreatedAt, Ascending)) => in_order_of!(records!(), "AND s.started_at >= $18 ", "s.started_at, "),
            Some((CreatedAt, Descending)) => {
                in_order_of!(records!(), "AND s.started_at <= -$18 ", "s.started_at DESC, ")
            }
            Some((DurationMs, Ascending)) => in_order_of!(
                ends!(),
                "AND f.organization = $1 AND s.invocation = f.invocation AND f.duration_ms >= $18 ",
                "f.duration_ms, "
            ),
            Some((DurationMs, Descending)) => in_order_of!(
                ends!(),
                "AND f.organization = $1 AND s.invocation = f.invocation AND f.duration_ms <= -$18 ",
                "f.duration_ms DESC, "
            ),
            _ => sorted!(records!(), ""),
        },
    };
    (statement, has_keys)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Clock;
    use crate::history::ToolSelection;
    use crate::ids::ToolId;
    use crate::store::sql::plans::plan;

    use Direction::{Ascending, Descending};
    use InvocationSort::{CreatedAt, DurationMs, Succeeded};

    fn filter(conversations: usize, tools: usize, sort: &[(InvocationSort, Direction)]) -> InvocationFilter {
        let tool = |_| ToolSelection { tool: ToolId::new(&Clock::system()), versions: None };
        InvocationFilter {
            conversation_ids: vec!["c".to_owned(); conversations],
            tools: (0..tools).map(tool).collect(),
            sort: sort.to_vec(),
            ..InvocationFilter::default()
        }
    }

    #[tokio::test]
    async fn lists_are_read_from_the_expected_index() {
        let (by_age, by_tool) = ("SEARCH s USING INDEX inv_started_by_age", "SEARCH s USING INDEX inv_started_by_tool");
        let by_conversation = "SEARCH s USING INDEX inv_started_by_conversation";
        let by_duration = "SEARCH f USING INDEX inv_finished_by_duration (organization=? AND duration_ms";
        let few = "USE TEMP B-TREE FOR LAST";
        let all = "USE TEMP B-TREE FOR ORDER BY";
        for (filter, index, sorts) in [
            (filter(0, 0, &[]), by_age, None),
            (filter(0, 0, &[(CreatedAt, Descending)]), by_age, None),
            (filter(0, 2, &[]), by_age, None),
            (filter(0, 1, &[]), by_tool, Some(few)),
            (filter(2, 1, &[]), by_conversation, Some(all)),
            (filter(1, 0, &[(DurationMs, Ascending)]), by_conversation, Some(all)),
            (filter(0, 1, &[(DurationMs, Ascending)]), by_tool, Some(all)),
            (filter(0, 0, &[(CreatedAt, Ascending)]), by_age, Some(few)),
            (filter(0, 0, &[(CreatedAt, Descending), (Succeeded, Ascending)]), by_age, Some(few)),
            (filter(0, 0, &[(DurationMs, Ascending)]), by_duration, Some(few)),
            (filter(0, 0, &[(DurationMs, Descending), (Succeeded, Ascending)]), by_duration, Some(few)),
        ] {
            let steps = plan(statement(&filter).0).await.unwrap();
            assert!(steps.iter().any(|step| step.starts_with(index)), "{filter:?}: {steps:#?}");
            let sorting = steps.iter().find(|step| step.contains("B-TREE FOR LAST") || step.contains("FOR ORDER"));
            assert_eq!(sorting.is_some(), sorts.is_some(), "{filter:?}: {steps:#?}");
            assert!(sorting.is_none_or(|step| step.starts_with(sorts.unwrap_or_default())), "{filter:?}: {steps:#?}");
            assert!(!steps.iter().any(|step| step.starts_with("CORRELATED")), "evaluated once per row: {steps:#?}");
        }
    }
}
