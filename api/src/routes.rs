//! One file per operation: request, handler, response.

pub(crate) mod api_keys;
pub(crate) mod builds;
pub(crate) mod document;
mod gate;
pub(crate) mod git;
pub(crate) mod health;
mod input;
pub(crate) mod invocations;
pub(crate) mod me;
pub(crate) mod names;
pub(crate) mod operations;
pub(crate) mod progress;
pub(crate) mod reference;
pub(crate) mod results;
pub(crate) mod roles;
pub(crate) mod scaffold;
pub(crate) mod signin;
pub(crate) mod signing_keys;
mod sorting;
pub(crate) mod test;
pub(crate) mod tools;
pub(crate) mod users;
pub(crate) mod versions;
