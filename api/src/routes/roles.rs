//! Roles of the organisation, for its administrators.

pub(crate) mod create;
pub(crate) mod delete;
pub(crate) mod list;
pub(crate) mod modify;
pub(crate) mod show;
mod wire;
