//! Catalogues that were made of late.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use registry::{AgentId, Grants, OrganizationId, Principal, RunningAgent, UserId};
use tokio::time::Instant;

use super::catalogue::Catalogue;

/// Catalogues of different users and agents, up to a few megabytes each. A full cache drops all of them.
const CATALOGUES_MAX: usize = 128;
/// Age at which a catalogue is made again: a change by another server, whose announcement was lost, is seen after this time.
const AGE_MAX: Duration = Duration::from_secs(1);

#[derive(Clone, Default)]
pub(super) struct CatalogueCache(Arc<Mutex<HashMap<Key, Entry>>>);

type Key = (OrganizationId, AgentId, UserId);

struct Entry {
    made_from: MadeFrom,
    catalogue: Arc<Catalogue>,
}

/// Everything that a catalogue depends on, read before it is made.
pub(super) struct MadeFrom {
    running: Arc<RunningAgent>,
    grants: Grants,
    /// The number of changes in the store.
    generation: u64,
    at: Instant,
}

impl MadeFrom {
    pub fn new(principal: &Principal, running: &Arc<RunningAgent>, generation: u64) -> Self {
        Self { running: running.clone(), grants: principal.grants.clone(), generation, at: Instant::now() }
    }

    /// Whether a catalogue that was made from `earlier` is still right.
    fn is_as(&self, earlier: &Self) -> bool {
        let is_young = self.at.duration_since(earlier.at) < AGE_MAX;
        let has_same_tools = self.generation == earlier.generation && Arc::ptr_eq(&self.running, &earlier.running);
        is_young && has_same_tools && self.grants == earlier.grants
    }
}

impl CatalogueCache {
    pub fn get(&self, principal: &Principal, now: &MadeFrom) -> Option<Arc<Catalogue>> {
        let entries = self.0.lock();
        let entry = entries.get(&key(principal, now)).filter(|entry| now.is_as(&entry.made_from));
        entry.map(|entry| entry.catalogue.clone())
    }

    pub fn keep(&self, principal: &Principal, made_from: MadeFrom, catalogue: Arc<Catalogue>) {
        let mut entries = self.0.lock();
        let key = key(principal, &made_from);
        if entries.len() >= CATALOGUES_MAX && !entries.contains_key(&key) {
            entries.clear();
        }
        entries.insert(key, Entry { made_from, catalogue });
    }
}

fn key(principal: &Principal, made_from: &MadeFrom) -> Key {
    (principal.organization.clone(), made_from.running.agent.id.clone(), principal.user.clone())
}
