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

pub(crate) use body::{Body, FromBody, RightsEnded, expect_length, parsed, read, read_object};
pub(crate) use decoder::Decoder;
pub(crate) use fields::{Fields, Object, Tagged, or_null};
pub(crate) use idempotent::{Idempotent, key_reused};
pub(crate) use ignored_fields::IgnoredFields;
pub(crate) use node::Node;
pub(crate) use path::{InPath, PathParameter, parameter};
pub(crate) use query::{FromQuery, Query, QueryParameters};
pub(crate) use text::{OneOf, Text, TextDecoder, any_text, text_within};
pub(crate) use values::{AnyObject, Boolean, List, Number, ObjectText, Pair, TextMap, WholeNumber};
