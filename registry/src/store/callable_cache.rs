//! The cache of callables.

use std::sync::Arc;

use super::ttl_cache::TtlCache;
use crate::account::OrganizationId;
use crate::callable::Callable;
use crate::ids::ToolId;

/// Cached callables, some kilobytes each with their schema.
const CALLABLES_MAX: usize = 1024;

/// Callables by organisation, tool and the text of the constraint. The text is the key because `~=1.0` and `~=1.0.0` are
/// equal as values and match different versions.
pub(super) type CallableCache = TtlCache<(OrganizationId, ToolId, String), Arc<Callable>>;

pub(super) fn callable_cache() -> CallableCache {
    TtlCache::new(CALLABLES_MAX)
}
