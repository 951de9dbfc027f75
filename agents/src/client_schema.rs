//! The schemas of tools as MCP clients and model APIs read them. Inputs and outputs are matched with the schemas of the authors, whatever
//! is shown.
//!
//! MCP clients require `"type": "object"` at the root of each schema: many refuse the whole list for one tool without it. Model APIs also
//! refuse alternatives (`anyOf`, `oneOf`, `allOf`) at the root.

mod alternatives;
mod keywords;
mod patterns;
mod portable;
mod root;

use runner::ShownSchemas;
use serde_json::Value;

pub(crate) use alternatives::shape_for_models;
use portable::write_portably;
pub use root::{describes_objects, names_object_type};
pub(crate) use root::{is_shaped, shape_input, shape_output};

/// Shapes the schemas of one of the server's own tools, which are written for the server.
pub(crate) fn show_schemas(mut input: Value, mut output: Value) -> ShownSchemas {
    write_portably(&mut input);
    write_portably(&mut output);
    ShownSchemas { input: shape_for_models(input), output: shape_output(output) }
}
