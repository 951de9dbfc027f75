//! The schemas of inputs and outputs: the author's files, or what the code derived.

use std::collections::BTreeMap;

use runner::InputSchema;
use serde_json::Value;

use crate::error::{Error, Place};

const STAGE: &str = "manifest";
/// What refusals of the schemas name.
pub const INPUT: &str = "input-schema";
pub const OUTPUT: &str = "output-schema";
/// A schema is sent to callers and compiled in memory for every version.
const SCHEMA_BYTES_MAX: usize = 256 << 10;

/// Reads the author's schema file.
///
/// # Errors
/// When it is missing, no JSON, or no schema of an object.
pub fn read(files: &BTreeMap<String, Vec<u8>>, path: &str, check: &'static str) -> Result<Value, Error> {
    let missing = || Error::failed(STAGE, check, "the file is missing", Place::file(path));
    parse(files.get(path).ok_or_else(missing)?, Place::file(path), check)
}

/// Reads the schema that was derived from the entry point's types. The author's
/// code ran beside that, so it is no more to be trusted than a file.
///
/// # Errors
/// When it is no schema of an object.
pub fn derived(text: &str) -> Result<Value, Error> {
    parse(text.as_bytes(), Place::default(), INPUT)
}

fn parse(bytes: &[u8], place: Place, check: &'static str) -> Result<Value, Error> {
    let refuse = |message: String| Error::failed(STAGE, check, message, place.clone());
    if bytes.len() > SCHEMA_BYTES_MAX {
        return Err(refuse(format!("a schema is at most {SCHEMA_BYTES_MAX} bytes")));
    }
    let schema: Value = serde_json::from_slice(bytes).map_err(|error| {
        let line = u32::try_from(error.line()).ok();
        Error::failed(STAGE, check, error.to_string(), Place { line, ..place.clone() })
    })?;
    if !schema.is_object() {
        return Err(refuse("a schema is a JSON object".into()));
    }
    InputSchema::compile(&schema).map_err(refuse)?;
    Ok(schema)
}
