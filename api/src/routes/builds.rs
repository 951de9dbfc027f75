//! Operations on builds.

pub(crate) mod show;
