//! JSON Schemas of inputs and outputs: compiled once per version, and matched within bounds that are known beforehand.
//!
//! A schema has a price list ([`cost`]), which bounds the steps of matching an input before it is matched. Cheap inputs
//! are matched immediately. Expensive ones are matched in a process that is killed at a deadline ([`SchemaMatcher`]).

mod child;
mod compiled;
mod cost;
mod explain;
mod input_schema;
mod integers;
mod keywords;
mod matcher;
mod patterns;
#[cfg(test)]
mod properties;
mod thread;
mod walk;
mod wire;
mod workers;

pub use child::child_schema_main;
pub use input_schema::InputSchema;
pub(crate) use input_schema::compile;
pub use integers::bound_integers;
pub use matcher::SchemaMatcher;
