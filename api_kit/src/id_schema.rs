//! The JSON Schema of ids.

use schemars::JsonSchema;

// An id of a stored row. Fields describe it.
#[derive(JsonSchema)]
#[schemars(inline, extend("pattern" = "^[a-f0-9]{24}$"))]
#[expect(dead_code, reason = "the schema alone is used")]
pub struct Id(String);
