//! The caches of the store, with their bounds.

use super::call_caches::{CALLABLES, COMPARED_CHANGES, RESOLVED, TOOL_CHANGES, USER_VARIABLES};
use super::data_keys::DATA_KEYS;
use super::handle::Store;
use super::token_cache::{CHECKED_TOKENS, ROLE_GRANTS};
use crate::kit::byte_cache::CacheBound;

/// The caches of a store in memory.
pub const CACHES: &[CacheBound] =
    &[TOOL_CHANGES, COMPARED_CHANGES, RESOLVED, CALLABLES, USER_VARIABLES, CHECKED_TOKENS, ROLE_GRANTS, DATA_KEYS];

impl Store {
    /// Drops what has expired from the caches, so that an idle server holds nothing of what nobody asks for any more.
    pub fn drop_expired(&self) {
        self.0.kept.caches.drop_expired();
        self.0.kept.tokens.checked.drop_expired();
    }
}
