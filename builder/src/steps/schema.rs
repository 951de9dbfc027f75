//! The input schema: the author's file, or what the image derived.

use std::collections::BTreeMap;

use runner::InputSchema;
use serde_json::Value;

use crate::error::{Error, Place};

const STAGE: &str = "manifest";
const CHECK: &str = "input-schema";
/// A schema is sent to callers and compiled in memory for every version.
const SCHEMA_BYTES_MAX: usize = 256 << 10;

/// Reads the author's schema file.
///
/// # Errors
/// When it is missing, no JSON, or no schema of an object.
pub fn read(files: &BTreeMap<String, Vec<u8>>, path: &str) -> Result<Value, Error> {
    let missing = || Error::failed(STAGE, CHECK, "the file is missing", Place::file(path));
    parse(files.get(path).ok_or_else(missing)?, Place::file(path))
}

/// Reads the schema that was derived from the entry point's types. The author's
/// code ran beside that, so it is no more to be trusted than a file.
///
/// # Errors
/// When it is no schema of an object.
pub fn derived(text: &str) -> Result<Value, Error> {
    parse(text.as_bytes(), Place::default())
}

fn parse(bytes: &[u8], place: Place) -> Result<Value, Error> {
    let refuse = |message: String| Error::failed(STAGE, CHECK, message, place.clone());
    if bytes.len() > SCHEMA_BYTES_MAX {
        return Err(refuse(format!("a schema is at most {SCHEMA_BYTES_MAX} bytes")));
    }
    let schema: Value = serde_json::from_slice(bytes).map_err(|error| {
        let line = u32::try_from(error.line()).ok();
        Error::failed(STAGE, CHECK, error.to_string(), Place { line, ..place.clone() })
    })?;
    if !schema.is_object() {
        return Err(refuse("an input schema is a JSON object".into()));
    }
    InputSchema::compile(&schema).map_err(refuse)?;
    Ok(schema)
}
