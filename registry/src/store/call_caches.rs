//! The caches of what calls need: callables, and the variables of users.

use std::sync::Arc;
use std::time::Duration;

use crate::access::SealedUserVariable;
use crate::kit::account::{AccountId, OrganizationId};
use crate::kit::byte_cache::{ByteCache, CacheBound};
use crate::kit::ids::{ToolId, VersionId};
use crate::versions::Callable;

/// Age at which a value is read again. A change by another process is seen after at most this time.
pub(super) const TTL: Duration = Duration::from_secs(1);
/// Age at which tools and agents are dropped that were not changed, so that an idle server holds nothing of them.
const UNCHANGED_TTL: Duration = Duration::from_secs(600);

/// Numbers of changes of some 10,000 organisations.
pub(super) const TOOL_CHANGES: CacheBound = CacheBound { name: "numbers of changes", bytes_max: 2 << 20 };
/// Organisations whose number of changes was compared of late.
pub(super) const COMPARED_CHANGES: CacheBound = CacheBound { name: "compared numbers of changes", bytes_max: 2 << 20 };

/// Versions by constraint: some 20,000 constraints.
pub(super) const RESOLVED: CacheBound = CacheBound { name: "resolved versions", bytes_max: 8 << 20 };
/// Most callables have some kilobytes. A version can have half a megabyte of schemas.
pub(super) const CALLABLES: CacheBound = CacheBound { name: "callables", bytes_max: 64 << 20 };
/// Most users have no variables.
pub(super) const USER_VARIABLES: CacheBound = CacheBound { name: "variables of users", bytes_max: 8 << 20 };

pub(super) struct CallCaches {
    /// The number of changes of an organisation's tools and agents before what is in memory of them was read.
    pub tool_changes: ByteCache<OrganizationId, i64>,
    pub compared_changes: ByteCache<OrganizationId, ()>,
    /// The versions that constraints resolve to, by the text of the constraint. The text is the key because `~=1.0` and `~=1.0.0`
    /// are equal as values and match different versions.
    pub resolved: ByteCache<(OrganizationId, ToolId, String), VersionId>,
    /// The callables of these versions. All constraints that resolve to a version share its callable.
    pub callables: ByteCache<(OrganizationId, ToolId, VersionId), Arc<Callable>>,
    pub user_variables: ByteCache<(OrganizationId, AccountId), Arc<[SealedUserVariable]>>,
}

impl Default for CallCaches {
    fn default() -> Self {
        Self {
            tool_changes: ByteCache::new(TOOL_CHANGES),
            compared_changes: ByteCache::new(COMPARED_CHANGES).with_ttl(TTL),
            resolved: ByteCache::new(RESOLVED).with_ttl(UNCHANGED_TTL),
            callables: ByteCache::new(CALLABLES).with_ttl(UNCHANGED_TTL),
            user_variables: ByteCache::new(USER_VARIABLES).with_ttl(TTL),
        }
    }
}

impl CallCaches {
    /// Drops the tools of an organisation.
    pub fn drop_tools(&self, of: &OrganizationId) {
        self.resolved.drop_where(|(organization, ..), _| organization == of);
        self.callables.drop_where(|(organization, ..), _| organization == of);
    }

    /// Drops the variables of a user, or of all users of an organisation.
    pub fn drop_user_variables(&self, of: &OrganizationId, of_account: Option<&AccountId>) {
        let is_of = |account: &AccountId| of_account.is_none_or(|of_account| of_account == account);
        self.user_variables.drop_where(|(organization, account), _| organization == of && is_of(account));
    }

    /// Callers do this after a change and before they report it.
    pub fn clear(&self) {
        self.tool_changes.clear();
        self.compared_changes.clear();
        self.resolved.clear();
        self.callables.clear();
        self.user_variables.clear();
    }

    pub fn drop_expired(&self) {
        self.compared_changes.drop_expired();
        self.resolved.drop_expired();
        self.callables.drop_expired();
        self.user_variables.drop_expired();
    }
}
