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
    let refuse = |message: String, line: Option<u32>| {
        Error::failed(STAGE, CHECK, message, Place { file: Some(path.into()), line })
    };
    let bytes = files.get(path).ok_or_else(|| refuse("the file is missing".into(), None))?;
    if bytes.len() > SCHEMA_BYTES_MAX {
        return Err(refuse(format!("at most {SCHEMA_BYTES_MAX} bytes"), None));
    }
    let schema: Value =
        serde_json::from_slice(bytes).map_err(|error| refuse(error.to_string(), u32::try_from(error.line()).ok()))?;
    check(&schema).map_err(|message| refuse(message, None))?;
    Ok(schema)
}

/// Checks the schema that was derived from the entry point's types.
///
/// # Errors
/// When the image made something that is no schema.
pub fn derived(text: &str) -> Result<Value, Error> {
    let schema: Value = serde_json::from_str(text).map_err(Error::internal)?;
    check(&schema).map_err(Error::internal)?;
    Ok(schema)
}

fn check(schema: &Value) -> Result<(), String> {
    if !schema.is_object() {
        return Err("an input schema is a JSON object".into());
    }
    InputSchema::compile(schema).map(drop)
}
