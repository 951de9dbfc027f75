//! Routes of asynchronous operations.

pub(crate) mod show;
