//! The columns of a table, as the source has them.

use super::tables::{TABLES, TEXT_INDEX, Table};
use crate::error::{Error, Result};
use crate::store::database::{Connection, FromColumn, Query, Row, Value, get};

/// The type of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Text,
    Integer,
    Bytes,
}

#[derive(Clone, Debug)]
pub(super) struct Column {
    pub name: String,
    pub kind: Kind,
}

/// A table with all its columns.
#[derive(Debug)]
pub(super) struct Layout {
    pub table: &'static Table,
    pub columns: Vec<Column>,
}

const COLUMNS: &str = "SELECT name, type FROM pragma_table_info($1) ORDER BY cid";

/// Reads the columns of all tables from SQLite.
pub(super) async fn read_layouts(connection: &mut Connection) -> Result<Vec<Layout>> {
    let mut layouts = Vec::new();
    for table in &TABLES {
        let rows = Query::new(COLUMNS).bind(table.name).fetch_all(&mut *connection).await?;
        let mut columns = rows.iter().map(Column::read).collect::<Result<Vec<_>>>()?;
        if table.key == ["rowid"] {
            columns.push(Column { name: "rowid".to_owned(), kind: Kind::Integer });
        }
        layouts.push(Layout { table, columns });
    }
    Ok(layouts)
}

impl Layout {
    /// The names of the columns, separated by commas.
    pub fn names(&self) -> String {
        self.columns.iter().map(|column| column.name.as_str()).collect::<Vec<_>>().join(", ")
    }

    pub fn is_text_index(&self) -> bool {
        self.table.name == TEXT_INDEX.name
    }

    /// Reads the key of a row, as values to bind.
    pub fn read_key(&self, row: &Row) -> Result<Vec<Value>> {
        let kind = |name: &str| self.columns.iter().find(|column| column.name == name).map(|column| column.kind);
        self.table.key.iter().map(|name| read_value(row, name, kind(name).unwrap_or(Kind::Text))).collect()
    }
}

fn read_value(row: &Row, name: &str, kind: Kind) -> Result<Value> {
    Ok(match kind {
        Kind::Text => Value::from(String::read(row, name)?),
        Kind::Integer => Value::from(i64::read(row, name)?),
        Kind::Bytes => Value::from(Vec::<u8>::read(row, name)?),
    })
}

impl Column {
    fn read(row: &Row) -> Result<Self> {
        let name: String = get(row, "name")?;
        let kind = match get(row, "type")? {
            // The columns of the full-text index have no type.
            "TEXT" | "" => Kind::Text,
            "INTEGER" | "BIGINT" => Kind::Integer,
            "BLOB" => Kind::Bytes,
            other => {
                let detail = format!("column {name} has the type {other}");
                return Err(Error::Corrupt { what: "database", detail });
            }
        };
        Ok(Self { name, kind })
    }
}
