//! Roles of the organisation, for its administrators.

pub(crate) mod create;
pub(crate) mod delete;
mod grants;
pub(crate) mod list;
pub(crate) mod modify;
pub(crate) mod show;
