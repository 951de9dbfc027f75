//! API keys of all users, for administrators. Every user manages their own keys under [`super::me`].

pub(crate) mod create;
pub(crate) mod list;
pub(crate) mod revoke;
pub(crate) mod terms;
