//! The border: bytes, queries and paths become registry types here, or a 422 that names the place.

mod body;
mod depth;
mod field;
mod node;
mod path;
mod problem;
mod query;
mod repeatable;
mod strict;
mod whole;

pub(crate) use body::{Body, FromBody};
pub(crate) use depth::CallDepth;
pub(crate) use field::Field;
pub(crate) use node::Node;
pub(crate) use path::{InPath, PathParameter, parameter};
pub use problem::{Place, Problem};
pub(crate) use query::{FromQuery, Parameters, Query};
pub(crate) use repeatable::{Repeatable, key_reused};
pub(crate) use whole::with_whole_numbers;
