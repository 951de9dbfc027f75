//! Users of the organisation, for its administrators.

pub(crate) mod create;
pub(crate) mod list;
pub(crate) mod remove;
pub(crate) mod set_role;
pub(crate) mod show;
mod wire;
