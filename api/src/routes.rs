//! One file per operation: request, handler, response.

pub(crate) mod api_keys;
pub(crate) mod builds;
pub(crate) mod document;
pub(crate) mod git;
pub(crate) mod health;
pub(crate) mod holds;
mod inputs;
pub(crate) mod invocations;
pub(crate) mod me;
pub(crate) mod operations;
pub(crate) mod organization;
pub(crate) mod progress;
pub(crate) mod reference;
mod replay_gate;
pub(crate) mod results;
pub(crate) mod roles;
pub(crate) mod root;
pub(crate) mod scaffold;
pub(crate) mod signin;
pub(crate) mod signing_keys;
mod sorting;
pub(crate) mod test;
mod text_types;
pub(crate) mod tools;
pub(crate) mod user_variables;
pub(crate) mod users;
pub(crate) mod versions;
