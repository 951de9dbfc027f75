//! The caches of what calls need: callables, running agents, and the variables of users.

use std::sync::Arc;

use super::ttl_cache::TtlCache;
use crate::account::{OrganizationId, UserId};
use crate::agent::{AgentReference, RunningAgent};
use crate::callable::Callable;
use crate::ids::ToolId;
use crate::user_variable::SealedUserVariable;

/// Cached callables, some kilobytes each with their schema.
const CALLABLES_MAX: usize = 1024;
/// Agents whose running revision is cached, up to some hundred kilobytes each.
const AGENTS_MAX: usize = 256;
/// Users whose variables are cached, some kilobytes each. Most users have none.
const USERS_MAX: usize = 1024;

pub(super) struct CallCaches {
    /// Callables by organisation, tool and the text of the constraint. The text is the key because `~=1.0` and `~=1.0.0` are
    /// equal as values and match different versions.
    pub callables: TtlCache<(OrganizationId, ToolId, String), Arc<Callable>>,
    pub running_agents: TtlCache<(OrganizationId, AgentReference), Arc<RunningAgent>>,
    pub user_variables: TtlCache<(OrganizationId, UserId), Arc<[SealedUserVariable]>>,
}

impl Default for CallCaches {
    fn default() -> Self {
        Self {
            callables: TtlCache::new(CALLABLES_MAX),
            running_agents: TtlCache::new(AGENTS_MAX),
            user_variables: TtlCache::new(USERS_MAX),
        }
    }
}

impl CallCaches {
    /// Drops the tools and the agents of an organisation.
    pub fn drop_tools_and_agents(&self, of: &OrganizationId) {
        self.callables.drop_where(|(organization, ..), _| organization == of);
        self.running_agents.drop_where(|(organization, _), _| organization == of);
    }

    /// Drops the variables of a user, or of all users of an organisation.
    pub fn drop_user_variables(&self, of: &OrganizationId, of_user: Option<&UserId>) {
        let is_of = |user: &UserId| of_user.is_none_or(|of_user| of_user == user);
        self.user_variables.drop_where(|(organization, user), _| organization == of && is_of(user));
    }

    /// Callers do this after a change and before they report it.
    pub fn clear(&self) {
        self.callables.clear();
        self.running_agents.clear();
        self.user_variables.clear();
    }
}
