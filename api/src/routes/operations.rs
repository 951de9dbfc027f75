//! Operations on tracked operations.

pub(crate) mod show;
