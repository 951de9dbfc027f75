//! Our own implementations of keywords whose cost in the `jsonschema` crate grows faster than the input.

mod multiple_of;
mod unique_items;

pub(super) use multiple_of::MultipleOf;
pub(super) use unique_items::UniqueItems;
