//! The order of lists whose items have a sequence: by sort keys, and newest first among equals.

use crate::kit::page::Direction::{self, Ascending};
use crate::store::database::{Statement, Value};

/// A column that a list is sorted by, with the value of the last item of the previous page.
pub struct SortedBy {
    pub column: &'static str,
    pub direction: Direction,
    /// `None` on the first page.
    pub last: Option<Value>,
}

/// Returns the distinct sort keys. A repeated key cannot change the order.
pub fn sort_keys<T: Copy + PartialEq>(sort: &[(T, Direction)]) -> Vec<(T, Direction)> {
    let mut keys: Vec<(T, Direction)> = Vec::new();
    for key in sort {
        if keys.iter().all(|(column, _)| *column != key.0) {
            keys.push(*key);
        }
    }
    keys
}

/// Adds the condition that an item comes after the last one, whose sequence is `last`, and the order. `sequence` names the column.
pub fn add_order(statement: &mut Statement, keys: Vec<SortedBy>, sequence: &str, last: Option<i64>) {
    let mut order = String::new();
    for SortedBy { column, direction, .. } in &keys {
        order += &format!("{column}{}, ", if *direction == Ascending { "" } else { " DESC" });
    }
    if let Some(last) = last {
        add_behind(statement, keys, sequence, last);
    }
    statement.push(&format!(" ORDER BY {order}{sequence} DESC"));
}

/// Adds nested conditions: an item has a later value under a key, or the same and comes later under the next key.
fn add_behind(statement: &mut Statement, keys: Vec<SortedBy>, sequence: &str, last: i64) {
    let ends = "))".repeat(keys.len());
    statement.push(" AND (");
    for SortedBy { column, direction, last } in keys {
        let sign = if direction == Ascending { ">" } else { "<" };
        statement.bind_some(&format!("{column} {sign} ? OR ({column} = ? AND ("), last);
    }
    statement.bind(&format!("{sequence} < ?"), last);
    statement.push(&format!("{ends})"));
}
