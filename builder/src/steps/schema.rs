//! The schemas of inputs and outputs, from the author's files or derived from the code.

use std::collections::BTreeMap;

use registry::{ApiName, HeapBytes, OrganizationId, parse_json};
use runner::{InputSchema, SchemaMatcher, bound_integers};
use serde_json::Value;

use crate::composed_path::compose;
use crate::decoded_text::decode_text;
use crate::error::{Error, Location};

const STAGE: &str = "manifest";
/// The names of the schemas in errors.
pub const INPUT: &str = "input-schema";
pub const OUTPUT: &str = "output-schema";
/// Bytes of a schema, which is sent to callers and compiled in memory for every version.
const SCHEMA_BYTES_MAX: usize = 256 << 10;
/// Bytes of a schema whose values are parsed, as the server estimates them: some thirty times the text, of which ordinary schemas take
/// twenty. Lists of tools and calls parse it.
const PARSED_BYTES_MAX: usize = 8 << 20;
/// Levels of a schema. It is stored within other JSON, of which readers accept 127 levels.
const LEVELS_MAX: usize = 100;

/// Reads the author's schema file.
///
/// # Errors
/// When the file is missing, is not JSON, or is not the schema of an object.
pub fn read(files: &BTreeMap<String, Vec<u8>>, path: &str, check: &'static str) -> Result<Value, Error> {
    let missing = || Error::failed(STAGE, check, "the file is missing").at(Location::file(path));
    parse(files.get(&compose(path)).ok_or_else(missing)?, Location::file(path), check)
}

/// Reads the schema that was derived from the entry point's types. The author's code ran in the same process, so the
/// schema is no more trusted than a file.
///
/// # Errors
/// When the text is not the schema of an object.
pub fn parse_derived(text: &str) -> Result<Value, Error> {
    parse(text.as_bytes(), Location::default(), INPUT)
}

/// Reads the derived schema of the arguments of an API.
///
/// # Errors
/// When it is not the schema of an object.
pub fn check_api(name: &ApiName, schema: Value) -> Result<Value, Error> {
    check_schema(schema).map_err(|problem| Error::failed(STAGE, INPUT, format!("{name}: {problem}")))
}

/// Checks the input schema that the schemas of all APIs make together.
///
/// # Errors
/// When it is too large or costs too much.
pub fn combine_schema(schema: Value) -> Result<Value, Error> {
    let problem = |problem| Error::failed(STAGE, INPUT, format!("the schemas of all APIs together: {problem}"));
    check_schema(schema).map_err(problem)
}

/// Checks that the output schemas of all APIs are no larger than one schema may be.
///
/// # Errors
/// When they are too large.
pub fn check_outputs_together<'s>(schemas: impl Iterator<Item = &'s Value>) -> Result<(), Error> {
    let bytes: usize = schemas.map(|schema| schema.to_string().len()).sum();
    if bytes <= SCHEMA_BYTES_MAX {
        return Ok(());
    }
    let message = format!("the output schemas of all APIs have at most {SCHEMA_BYTES_MAX} bytes together");
    Err(Error::failed(STAGE, OUTPUT, message))
}

fn check_schema(schema: Value) -> Result<Value, String> {
    if schema.to_string().len() > SCHEMA_BYTES_MAX {
        return Err(format!("a schema is at most {SCHEMA_BYTES_MAX} bytes"));
    }
    check_bounds(&schema)?;
    let schema = bound_integers(schema);
    InputSchema::compile(&schema).map(|_| schema)
}

fn check_bounds(schema: &Value) -> Result<(), String> {
    if !schema.is_object() {
        return Err("a schema is a JSON object".into());
    }
    let parsed = schema.heap_bytes();
    if parsed > PARSED_BYTES_MAX {
        return Err(format!(
            "a schema takes at most {PARSED_BYTES_MAX} bytes of memory when it is parsed, and this one takes {parsed}; use fewer objects \
             and lists"
        ));
    }
    // The text was read with a bound of its own, so that this does not go deeper.
    match count_levels(schema) {
        deep if deep > LEVELS_MAX => Err(format!("the schema is nested more than {LEVELS_MAX} levels deep")),
        _ => Ok(()),
    }
}

fn count_levels(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(count_levels).max().unwrap_or_default(),
        Value::Object(fields) => 1 + fields.values().map(count_levels).max().unwrap_or_default(),
        _ => 0,
    }
}

/// A schema of a project, its file, and its name in errors.
pub struct Declared<'a> {
    pub schema: &'a InputSchema,
    /// The file that the project names. `None` for a derived schema.
    pub path: Option<&'a str>,
    pub check: &'static str,
}

impl Declared<'_> {
    /// Compiles a schema that is too expensive to compile where it is read.
    ///
    /// # Errors
    /// When it is not a schema, or compiling it takes too long.
    pub async fn compile_expensive(&self, schemas: &SchemaMatcher, organization: &OrganizationId) -> Result<(), Error> {
        let location = self.path.map_or_else(Location::default, Location::file);
        let compiled = schemas.compile_expensive(organization, self.schema).await?;
        compiled.map_err(|problem| Error::failed(STAGE, self.check, problem).at(location))
    }
}

fn parse(bytes: &[u8], location: Location, check: &'static str) -> Result<Value, Error> {
    let refuse = |message: String| Error::failed(STAGE, check, message).at(location.clone());
    if bytes.len() > SCHEMA_BYTES_MAX {
        return Err(refuse(format!("a schema is at most {SCHEMA_BYTES_MAX} bytes")));
    }
    let text = decode_text(bytes).map_err(|problem| {
        Error::failed(STAGE, check, problem.to_string()).at(Location { line: problem.line, ..location.clone() })
    })?;
    let schema = parse_json(text.as_bytes()).map_err(|error| {
        let line = u32::try_from(error.line()).ok().filter(|line| *line > 0);
        Error::failed(STAGE, check, error.to_string()).at(Location { line, ..location.clone() })
    })?;
    check_bounds(&schema).map_err(&refuse)?;
    let schema = bound_integers(schema);
    InputSchema::compile(&schema).map_err(refuse)?;
    Ok(schema)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nested(levels: usize) -> String {
        format!("{{\"default\":{}{}}}", "[".repeat(levels - 1), "]".repeat(levels - 1))
    }

    #[test]
    fn a_schema_is_read_back_from_within_other_json() {
        assert!(parse_derived(&nested(LEVELS_MAX)).is_ok());
        let refused = parse_derived(&nested(LEVELS_MAX + 1)).unwrap_err().to_string();
        assert!(refused.contains("nested more than 100 levels deep"), "{refused}");
    }
}
