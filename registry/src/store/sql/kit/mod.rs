//! Parts of statements that every district uses, and the statements about the database itself.

pub(super) mod batch;
pub(in crate::store) mod counts;
mod health;
pub(in crate::store) mod list;
pub(in crate::store) mod listing;
pub(in crate::store) mod master_key;
pub(in crate::store) mod migrate;
mod positions;
pub(in crate::store) mod row;
pub(in crate::store) mod sequence_order;
mod snapshot;
