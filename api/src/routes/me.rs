//! What concerns the caller alone: who they are, and their own keys. Needs no role.

pub(crate) mod create_key;
pub(crate) mod list_keys;
pub(crate) mod revoke_key;
pub(crate) mod show;
