//! The fields of an item as they are stored: the field that lists leave out is apart, so that a list does not read it.

use std::collections::BTreeMap;

use registry::Result;
use registry::statements::{Row, damaged, get, read_json, read_unsigned, to_json};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::domain::library::LibraryFamily;

/// The columns of an item in a list: all that [`super::item::read`] reads, but the content.
macro_rules! listed_columns {
    () => {
        "i.item, i.family, i.owner, i.app, i.body, i.content_bytes, CAST(NULL AS TEXT) AS content, i.revision, i.invocation,
        i.agent, i.workflow, i.is_trusted, i.created_at, i.updated_at"
    };
}
pub(super) use listed_columns;

/// The fields of an item, written as JSON.
#[derive(Serialize)]
pub(super) struct StoredFields {
    pub body: String,
    pub content: Option<String>,
    pub content_bytes: i64,
}

impl StoredFields {
    /// The fields of a row as they are, also of one that is damaged.
    pub fn unread(row: &Row) -> Result<Self> {
        Ok(Self { body: get(row, "body")?, content: get(row, "content")?, content_bytes: get(row, "content_bytes")? })
    }

    pub fn of(family: LibraryFamily, body: &Map<String, Value>) -> Result<Self> {
        let content = family.content_field().and_then(|field| body.get(field));
        let Some(content) = content else {
            return Ok(Self { body: to_json(body)?, content: None, content_bytes: 0 });
        };
        let rest: BTreeMap<_, _> =
            body.iter().filter(|(name, _)| family.content_field() != Some(name.as_str())).collect();
        let written = to_json(content)?;
        let bytes = content.as_str().map_or(written.len(), str::len);
        Ok(Self {
            body: to_json(&rest)?,
            content: Some(written),
            content_bytes: i64::try_from(bytes).unwrap_or(i64::MAX),
        })
    }
}

/// Reads the fields of an item or of a revision, with the content if the row has it.
pub(super) fn read_fields(row: &Row, family: LibraryFamily) -> Result<(Map<String, Value>, u64)> {
    let mut body: Map<String, Value> = read_json(row, "body")?;
    if let (Some(field), Some(content)) = (family.content_field(), get::<Option<&str>>(row, "content")?) {
        let content = serde_json::from_str(content).map_err(|error| damaged("content", &error))?;
        body.insert(field.to_owned(), content);
    }
    Ok((body, read_unsigned(row, "content_bytes")?))
}
