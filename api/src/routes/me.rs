//! The caller: identity, permissions and own API keys. Every role may use these operations.

pub(crate) mod create_key;
pub(crate) mod list_keys;
pub(crate) mod revoke_key;
pub(crate) mod show;
