//! Parts of statements that every district uses, and the statements about the database itself.

pub(super) mod batch;
pub(super) mod counts;
mod health;
pub(super) mod list;
pub(in crate::store) mod listing;
pub(in crate::store) mod master_key;
pub(in crate::store) mod migrate;
mod positions;
pub(in crate::store) mod row;
pub(super) mod sequence_order;
mod snapshot;
