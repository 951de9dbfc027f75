//! The sort keys of the history.

use super::list_start::ListStart;
use super::run_group::run_group;
use crate::error::Result;
use crate::history::{RunFilter, RunSort, RunStates};
use crate::kit::page::Direction;
use crate::store::database::{Row, Value};
use crate::store::sql::kit::row::get;

/// A sort key with its direction.
#[derive(Clone, Copy, Debug)]
pub(in crate::store) struct SortKey {
    sort: RunSort,
    direction: Direction,
    /// Whether all listed records have ended.
    are_ended: bool,
    started_at: &'static str,
}

/// The order of a list. Ties are ordered by age, newest first, whose columns are those of the table that the list begins with.
pub(in crate::store) struct Order {
    /// Distinct: a repeated key cannot change the order. None for the order by age, newest first.
    pub keys: Vec<SortKey>,
    pub started_at: &'static str,
    pub invocation: &'static str,
}

impl Order {
    /// Returns the order of a list that begins with a table.
    pub fn of(filter: &RunFilter, start: &ListStart) -> Self {
        let (started_at, invocation) = match start {
            ListStart::Effects(_) => ("e.started_at", "e.invocation"),
            _ => ("s.started_at", "s.invocation"),
        };
        Self { keys: sort_keys(filter, started_at), started_at, invocation }
    }
}

fn sort_keys(filter: &RunFilter, started_at: &'static str) -> Vec<SortKey> {
    let are_ended = filter.states == RunStates::Finished;
    let key = |(sort, direction)| SortKey { sort, direction, are_ended, started_at };
    match crate::store::sql::kit::sequence_order::sort_keys(&filter.sort).as_slice() {
        [(RunSort::CreatedAt, Direction::Descending)] => Vec::new(),
        keys => keys.iter().copied().map(key).collect(),
    }
}

impl SortKey {
    /// The value of a record. A missing value sorts as the one that clients see.
    pub fn column(self) -> &'static str {
        match self.sort {
            RunSort::CreatedAt => self.started_at,
            RunSort::DurationMs if self.are_ended => "f.duration_ms",
            RunSort::DurationMs => "coalesce(f.duration_ms, 0)",
            RunSort::Succeeded => "coalesce(f.succeeded, 0)",
            RunSort::ToolId => "coalesce(s.tool, '')",
            RunSort::Major => "coalesce(s.major, 0)",
            RunSort::Minor => "coalesce(s.minor, 0)",
            RunSort::Patch => "coalesce(s.patch, 0)",
            RunSort::SourceType => IS_SIMULATION,
        }
    }

    /// The term of the order.
    pub fn order(self) -> String {
        let direction = if self.direction == Direction::Ascending { "" } else { " DESC" };
        format!("{}{direction}, ", self.column())
    }

    /// The beginning of the condition that a record has a later value.
    pub fn after(self) -> String {
        format!("{} {}", self.column(), if self.direction == Direction::Ascending { ">" } else { "<" })
    }

    /// The beginning of the condition that a record has the same value or a later one.
    pub fn not_before(self) -> String {
        format!("{}=", self.after())
    }

    /// Returns the value of the last record of the previous page, a row of [`LAST`].
    pub fn value(self, last: &Row) -> Result<Value> {
        let column = match self.sort {
            RunSort::CreatedAt => "started_at",
            RunSort::DurationMs => "duration_ms",
            RunSort::Succeeded => "succeeded",
            RunSort::ToolId => return Ok(get::<&str>(last, "tool")?.into()),
            RunSort::Major => "major",
            RunSort::Minor => "minor",
            RunSort::Patch => "patch",
            RunSort::SourceType => "is_simulation",
        };
        Ok(get::<i64>(last, column)?.into())
    }
}

/// 1 for a run whose type is a simulation.
macro_rules! is_simulation {
    () => {
        "(CASE WHEN s.source_kind = 'simulation-conversation' OR (s.source_kind <> 'regular-conversation'
            AND s.mode = 'conversation-simulation') THEN 1 ELSE 0 END)"
    };
}

const IS_SIMULATION: &str = is_simulation!();

/// A record with its values under all sort keys.
pub(in crate::store) const LAST: &str = concat!(
    "SELECT s.invocation, s.started_at, coalesce(f.duration_ms, 0) AS duration_ms,
        coalesce(f.succeeded, 0) AS succeeded, coalesce(s.tool, '') AS tool, coalesce(s.major, 0) AS major,
        coalesce(s.minor, 0) AS minor, coalesce(s.patch, 0) AS patch, ",
    run_group!(),
    " AS run_group, ",
    is_simulation!(),
    " AS is_simulation
    FROM inv_started s LEFT JOIN inv_finished f ON f.invocation = s.invocation
    WHERE s.organization = $1 AND s.rowid = $2"
);
