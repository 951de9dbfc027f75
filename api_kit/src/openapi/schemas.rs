//! Schemas of texts that more than one operation reads.
//!
//! Four keywords of this API say what JSON Schema cannot:
//!
//! | keyword | meaning |
//! |---|---|
//! | `x-stripped` | surrounding white space is removed before the value is checked |
//! | `x-bytes-max` | a bound in bytes of UTF-8; `maxLength` counts characters |
//! | `x-unicode` | `\w` and `\s` of the pattern mean letters, digits and white space of any script |
//! | `x-parsed` | the named parser decides; the rest of the schema is necessary, but not sufficient |

use serde_json::{Value, json};

/// 24 lower-case hexadecimal characters.
pub fn object_id() -> Value {
    json!({"type": "string", "pattern": "^[a-f0-9]{24}$"})
}

pub fn text() -> Value {
    json!({"type": "string"})
}
