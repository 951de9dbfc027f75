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

pub(crate) use alternatives::shape_for_models;
pub(crate) use portable::write_portably;
pub use root::{describes_objects, names_object_type};
pub(crate) use root::{is_shaped, shape_input, shape_output};
