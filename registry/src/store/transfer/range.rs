//! Parts of a table, by the keys of their rows.

use super::layout::{Kind, Layout};
use crate::error::Result;
use crate::store::database::{Row, Statement, Value, get};

/// Bytes of a batch, some copies of which are in memory. The row that reaches the limit is the last of its batch.
const BATCH_BYTES: u64 = 4 << 20;

/// The rows whose keys are above `after` and at most `last`. Without values, a range has no such bound.
#[derive(Clone, Debug, Default)]
pub(super) struct Range {
    pub after: Vec<Value>,
    pub last: Vec<Value>,
}

/// A range of the source with the number of its rows.
#[derive(Debug)]
pub(super) struct Batch {
    pub range: Range,
    pub rows: u64,
}

impl Range {
    /// The rows after a key.
    pub fn after(key: Vec<Value>) -> Self {
        Self { after: key, last: Vec::new() }
    }

    /// Adds the condition that a row is in the range.
    pub fn add_to(&self, statement: &mut Statement, layout: &Layout) {
        statement.push(" WHERE true");
        add_bound(statement, layout, " > ", &self.after);
        add_bound(statement, layout, " <= ", &self.last);
    }
}

fn add_bound(statement: &mut Statement, layout: &Layout, operator: &str, values: &[Value]) {
    let mut before = format!(" AND ({}){operator}(", layout.table.key.join(", "));
    for value in values {
        statement.push(&before);
        statement.bind("?", value.clone());
        before = ", ".to_owned();
    }
    if !values.is_empty() {
        statement.push(")");
    }
}

/// Adds the order of the keys.
pub(super) fn add_order(statement: &mut Statement, layout: &Layout) {
    statement.push(&format!(" ORDER BY {}", layout.table.key.join(", ")));
}

/// Returns the size of a row, as an expression that does not read the values.
pub(super) fn build_row_size(layout: &Layout) -> String {
    let sized = layout.columns.iter().filter(|column| column.kind != Kind::Integer);
    let sizes = sized.map(|column| format!(" + coalesce(octet_length({}), 0)", column.name));
    format!("0{}", sizes.collect::<String>())
}

/// Returns the first rows that make a batch. `rows` have keys and sizes.
pub(super) fn build_batch(rows: &[Row], layout: &Layout, after: Vec<Value>) -> Result<Option<Batch>> {
    let (mut bytes, mut count, mut last) = (0_u64, 0, None);
    for row in rows {
        bytes = bytes.saturating_add(get::<u64>(row, "bytes")?);
        count += 1;
        last = Some(row);
        if bytes >= BATCH_BYTES {
            break;
        }
    }
    let last = last.map(|row| layout.read_key(row)).transpose()?;
    Ok(last.map(|last| Batch { range: Range { after, last }, rows: count }))
}
