//! Work that is remembered.

pub(crate) mod show;
