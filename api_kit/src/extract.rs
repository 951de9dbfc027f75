//! Reads requests: bytes, queries and paths become types of the registry, or a 422 response that names the location.

mod body;
mod decoder;
mod fields;
mod idempotent;
mod ignored_fields;
mod node;
mod numbers;
mod path;
mod query;
mod text;
mod values;

pub use body::{Body, FromBody, RightsEnded, expect_length, parse_body, read, read_object};
pub use decoder::Decoder;
pub use fields::{Fields, Object, Tagged, admit_null};
pub use idempotent::{Idempotent, refuse_reused_key};
pub use ignored_fields::IgnoredFields;
pub use node::Node;
pub use path::{InPath, PathParameter, read_parameter};
pub use query::{FromQuery, Query, QueryParameters};
pub use text::{OneOf, Text, TextDecoder, any_text, text_within};
pub use values::{AnyObject, Boolean, List, Number, ObjectText, Pair, TextMap, WholeNumber};
