//! The variables of users, which their runs receive: the caller's own, and those of any user for administrators.

pub(crate) mod list;
pub(crate) mod remove;
pub(crate) mod set;
