//! The statements that list the history. The statement depends on the filter and the order, so that most pages are read from
//! an index in their order, without the records after the page.
//!
//! `$1` is the organisation, `$2` to `$12` are the filters, `$13` and `$14` the start and id of the last record of the
//! previous page, `$15` is the number of rows. A sorted list has eight sort keys, each the number of a column and 1 or -1,
//! as `$16` to `$31`. The keys of the last record are `$32` to `$39`. `$40` is where an index of the first key begins.

use super::filters::filtered;
use super::record_pages::short_columns;
use crate::history::{InvocationFilter, InvocationSort, RunStates};
use crate::page::Direction;

/// A list, from the tables, the condition for the first table, the condition that a record comes after the last one, and the
/// order.
macro_rules! list {
    ($from:expr, $leading:expr, $behind:expr, $order:expr) => {
        concat!(
            "SELECT ",
            short_columns!("s.rowid"),
            " FROM ",
            $from,
            " LEFT JOIN inv_unlinked u ON u.invocation = s.invocation WHERE s.organization = $1 ",
            $leading,
            filtered!("$1"),
            $behind,
            "ORDER BY ",
            $order,
            "s.started_at DESC, s.invocation DESC LIMIT $15"
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
            ") wanted CROSS JOIN inv_started s",
            read_through!("inv_started_by_conversation"),
            "LEFT JOIN inv_finished f ON f.invocation = s.invocation"
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
        list!($from, $leading, "AND (s.started_at, s.invocation) < ($13, $14) ", "")
    };
}

/// The value of a record under a sort key. 0 without a key. A missing value sorts as the one that clients see.
macro_rules! value {
    ($key:literal) => {
        concat!(
            "(CASE ",
            $key,
            " WHEN 0 THEN 0 WHEN 1 THEN s.started_at WHEN 2 THEN coalesce(f.duration_ms, 0)
                WHEN 3 THEN coalesce(f.succeeded, 0) WHEN 4 THEN coalesce(s.tool, '') WHEN 5 THEN coalesce(s.major, 0)
                WHEN 6 THEN coalesce(s.minor, 0) WHEN 7 THEN coalesce(s.patch, 0)
                WHEN 8 THEN CASE WHEN s.source_kind = 'simulation-conversation' OR (s.source_kind <> 'regular-conversation'
                    AND s.mode = 'conversation-simulation') THEN 1 ELSE 0 END END)"
        )
    };
}

/// The last record of the previous page, `$2`, with its values under all sort keys.
pub(super) const LAST: &str = concat!(
    "SELECT s.invocation, s.started_at, ",
    value!("2"),
    " AS duration_ms, ",
    value!("3"),
    " AS succeeded, ",
    value!("4"),
    " AS tool, ",
    value!("5"),
    " AS major, ",
    value!("6"),
    " AS minor, ",
    value!("7"),
    " AS patch, ",
    value!("8"),
    " AS is_simulation
    FROM inv_started s LEFT JOIN inv_finished f ON f.invocation = s.invocation
    WHERE s.organization = $1 AND s.rowid = $2"
);

/// The order of a sort key, ascending or descending.
macro_rules! order {
    ($key:literal, $sign:literal) => {
        concat!(
            "CASE ",
            $sign,
            " WHEN 1 THEN ",
            value!($key),
            " END, CASE ",
            $sign,
            " WHEN -1 THEN ",
            value!($key),
            " END DESC, "
        )
    };
}

/// The orders of all keys but the first.
macro_rules! other_orders {
    () => {
        concat!(
            order!("$18", "$19"),
            order!("$20", "$21"),
            order!("$22", "$23"),
            order!("$24", "$25"),
            order!("$26", "$27"),
            order!("$28", "$29"),
            order!("$30", "$31")
        )
    };
}

/// Whether a record comes after the last one by this key, or has the same value and comes after it by the rest.
macro_rules! after {
    ($key:literal, $sign:literal, $last:literal, $rest:expr) => {
        concat!(
            "(CASE ",
            $sign,
            " WHEN 1 THEN ",
            value!($key),
            " > ",
            $last,
            " ELSE ",
            value!($key),
            " < ",
            $last,
            " END OR (",
            value!($key),
            " = ",
            $last,
            " AND ",
            $rest,
            "))"
        )
    };
}

/// Every record is on or behind the first page, which has no last record.
macro_rules! behind {
    () => {
        concat!("AND ($14 = '' OR ", behind!(keys), ") ")
    };
    (keys) => {
        after!("$16", "$17", "$32", after!("$18", "$19", "$33", after!("$20", "$21", "$34", behind!(more))))
    };
    (more) => {
        after!("$22", "$23", "$35", after!("$24", "$25", "$36", after!("$26", "$27", "$37", behind!(last))))
    };
    (last) => {
        after!("$28", "$29", "$38", after!("$30", "$31", "$39", "(s.started_at, s.invocation) < ($13, $14)"))
    };
}

macro_rules! sorted {
    ($from:expr, $leading:expr) => {
        list!($from, $leading, behind!(), concat!(order!("$16", "$17"), other_orders!()))
    };
}

/// A list in the order of an index, with the other keys for ties. `$order` repeats the first key and `$range` its part of
/// `behind!`, both in terms of columns for which the planner finds an index.
macro_rules! in_order_of {
    ($from:expr, $range:literal, $order:literal) => {
        list!($from, $range, behind!(), concat!($order, other_orders!()))
    };
}

macro_rules! ends {
    () => {
        "inv_finished f CROSS JOIN inv_started s"
    };
}

/// The running runs, which are few.
macro_rules! running {
    () => {
        "inv_open o CROSS JOIN inv_started s LEFT JOIN inv_finished f ON f.invocation = s.invocation"
    };
}

macro_rules! of_running {
    () => {
        "AND o.organization = $1 AND s.invocation = o.invocation "
    };
}

/// Returns the statement for a filter, and whether it has sort keys.
pub(super) fn statement(filter: &InvocationFilter) -> (&'static str, bool) {
    use InvocationSort::CreatedAt;
    let has_keys = !matches!(filter.sort.as_slice(), [] | [(CreatedAt, Direction::Descending)]);
    let tools = filter.tools.as_slice();
    let one_tool = tools.first().is_some_and(|first| tools.iter().all(|other| other.tool == first.tool));
    let are_running = filter.states == RunStates::Running;
    let statement = match (filter.conversation_ids.is_empty(), tools.is_empty(), has_keys) {
        (_, _, false) if are_running => newest_first!(running!(), of_running!()),
        (_, _, true) if are_running => sorted!(running!(), of_running!()),
        (false, _, false) => newest_first!(records_of_conversations!(), of_conversations!()),
        (false, _, true) => sorted!(records_of_conversations!(), of_conversations!()),
        (true, false, false) if one_tool => newest_first!(records_of_one_tool!(), of_one_tool!()),
        (true, false, false) => newest_first!(records!(), of_tools!()),
        (true, false, true) => sorted!(records!(), of_tools!()),
        (true, true, false) => newest_first!(records!(), ""),
        (true, true, true) => sorted_by_index(filter).unwrap_or(sorted!(records!(), "")),
    };
    (statement, has_keys)
}

/// Returns the statement that reads records in the order of an index on the first sort key, if there is one.
fn sorted_by_index(filter: &InvocationFilter) -> Option<&'static str> {
    use Direction::{Ascending, Descending};
    use InvocationSort::{CreatedAt, DurationMs};
    match (filter.sort.first()?, filter.states) {
        ((CreatedAt, Ascending), _) => Some(in_order_of!(records!(), "AND s.started_at >= $40 ", "s.started_at, ")),
        ((CreatedAt, Descending), _) => {
            Some(in_order_of!(records!(), "AND s.started_at <= $40 ", "s.started_at DESC, "))
        }
        ((DurationMs, Ascending), RunStates::Finished) => Some(in_order_of!(
            ends!(),
            "AND f.organization = $1 AND s.invocation = f.invocation AND f.duration_ms >= $40 ",
            "f.duration_ms, "
        )),
        ((DurationMs, Descending), RunStates::Finished) => Some(in_order_of!(
            ends!(),
            "AND f.organization = $1 AND s.invocation = f.invocation AND f.duration_ms <= $40 ",
            "f.duration_ms DESC, "
        )),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Clock;
    use crate::history::ToolSelection;
    use crate::ids::ToolId;
    use crate::store::sql::plans::plan;

    use Direction::{Ascending, Descending};
    use InvocationSort::{CreatedAt, DurationMs, Succeeded, ToolId as OfTool};

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
        let running = "SCAN o";
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
            (InvocationFilter { states: RunStates::All, ..filter(0, 0, &[]) }, by_age, None),
            (InvocationFilter { states: RunStates::Running, ..filter(0, 1, &[]) }, running, Some(all)),
            (
                InvocationFilter { states: RunStates::Running, ..filter(0, 0, &[(OfTool, Ascending)]) },
                running,
                Some(all),
            ),
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
