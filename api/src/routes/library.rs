//! Routes of the Library that are no calls of tools.

pub(crate) mod download;
