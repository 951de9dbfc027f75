//! Keys of all users, for administrators. Everybody's own are under [`super::me`].

pub(crate) mod create;
pub(crate) mod list;
pub(crate) mod revoke;
pub(crate) mod wire;
