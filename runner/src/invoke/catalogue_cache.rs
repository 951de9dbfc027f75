//! Catalogues that were made of late.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;
use registry::{AgentId, Grants, OrganizationId, Principal, RunningAgent, UserId};

use super::catalogue::Catalogue;

/// Catalogues of different users and agents, up to a few megabytes each. A full cache drops all of them.
const CATALOGUES_MAX: usize = 128;

#[derive(Clone, Default)]
pub(super) struct CatalogueCache(Arc<Mutex<HashMap<Key, Entry>>>);

type Key = (OrganizationId, AgentId, UserId);

struct Entry {
    made_from: MadeFrom,
    catalogue: Arc<Catalogue>,
}

/// What a catalogue depends on, read before it is made.
pub(super) struct MadeFrom {
    /// The store reads it anew after every change of anything, and at least once a second: the same one means the same tools.
    running: Arc<RunningAgent>,
    grants: Grants,
}

impl MadeFrom {
    pub fn new(principal: &Principal, running: &Arc<RunningAgent>) -> Self {
        Self { running: running.clone(), grants: principal.grants.clone() }
    }

    /// Whether a catalogue that was made from `earlier` is still right.
    fn is_as(&self, earlier: &Self) -> bool {
        Arc::ptr_eq(&self.running, &earlier.running) && self.grants == earlier.grants
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
