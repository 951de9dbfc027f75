//! Operations on tools.

pub(crate) mod create;
pub(crate) mod deprecate;
pub(crate) mod envvars;
pub(crate) mod list;
pub(crate) mod modify;
