//! Rows as JSON objects: the same text for the same row, whatever the database. Bytes are hexadecimal.

use serde::{Serialize, Serializer};

use super::layout::{Column, Kind, Layout};
use crate::error::{Error, Result};
use crate::store::database::{FromColumn, Row};
use crate::store::sql::kit::row::to_json;

struct Object<'a>(Vec<(&'a str, Cell<'a>)>);

#[derive(Serialize)]
#[serde(untagged)]
enum Cell<'a> {
    Text(Option<&'a str>),
    Integer(Option<i64>),
    Bytes(Option<String>),
}

impl Serialize for Object<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, cell)| (name, cell)))
    }
}

/// Encodes rows of a table.
pub(super) fn encode_rows(rows: &[Row], layout: &Layout) -> Result<Vec<String>> {
    rows.iter().map(|row| to_json(&build_object(row, layout)?)).collect()
}

fn build_object<'a>(row: &'a Row, layout: &'a Layout) -> Result<Object<'a>> {
    let cells = layout.columns.iter().map(|column| Ok((column.name.as_str(), build_cell(row, column)?)));
    cells.collect::<Result<_>>().map(Object)
}

fn build_cell<'a>(row: &'a Row, column: &Column) -> Result<Cell<'a>> {
    let name = column.name.as_str();
    Ok(match column.kind {
        Kind::Text => Cell::Text(<&str>::read(row, name)?),
        Kind::Integer => Cell::Integer(i64::read(row, name)?),
        Kind::Bytes => Cell::Bytes(<&[u8]>::read(row, name)?.map(hex::encode)),
    })
}

/// Returns the key of an encoded row, for messages.
pub(super) fn build_key_text(row: &str, layout: &Layout) -> String {
    let object: serde_json::Value = serde_json::from_str(row).unwrap_or_default();
    let text = |name: &&str| match &object[*name] {
        serde_json::Value::String(text) => format!("{name} {text}"),
        other => format!("{name} {other}"),
    };
    layout.table.key.iter().map(text).collect::<Vec<_>>().join(", ")
}

/// Refuses a text with the character U+0000, which no text of Postgres can have.
pub(super) fn require_storable(rows: &[String], layout: &Layout) -> Result<()> {
    match rows.iter().find(|row| has_null_character(row)) {
        Some(row) => Err(Error::NullCharacter { table: layout.table.name, key: build_key_text(row, layout) }),
        None => Ok(()),
    }
}

/// Whether JSON has the escape of the character, and not an escaped backslash before these letters.
fn has_null_character(json: &str) -> bool {
    json.match_indices("\\u0000").any(|(at, _)| {
        let before = json[..at].bytes().rev().take_while(|byte| *byte == b'\\').count();
        before % 2 == 0
    })
}

#[cfg(test)]
mod tests {
    use super::has_null_character;

    #[test]
    fn only_the_character_itself_is_refused() {
        for (text, is_refused) in
            [("a\0b", true), ("a\\u0000b", false), ("\\\0", true), ("\\\\u0000", false), ("plain", false)]
        {
            assert_eq!(has_null_character(&serde_json::to_string(text).unwrap()), is_refused, "{text:?}");
        }
    }
}
