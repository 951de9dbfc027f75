//! The border: bytes, queries and paths become registry types here, or a 422 that names the place.

mod body;
mod node;
mod path;
mod problem;
mod query;
mod strict;

pub(crate) use body::{Body, FromBody};
pub(crate) use node::Node;
pub(crate) use path::{InPath, PathParameter, parameter};
pub use problem::{Place, Problem};
pub(crate) use query::Parameters;
