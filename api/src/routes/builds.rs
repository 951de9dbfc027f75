//! Attempts to build a version.

pub(crate) mod show;
