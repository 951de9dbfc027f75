//! Catalogues that were made of late.

use std::sync::Arc;
use std::time::Duration;

use registry::{AccountId, AgentId, ByteCache, CacheBound, Grants, HeapBytes, OrganizationId, Principal};

use super::tools::Catalogue;
use crate::domain::agents::RunningAgent;

/// Catalogues of different users and agents. Each counts the versions of its tools in full, which it may share with others.
pub(crate) const CATALOGUES: CacheBound = CacheBound { name: "catalogues of agents", bytes_max: 128 << 20 };
/// Time after which a catalogue is dropped that nobody may have asked for since.
const TTL: Duration = Duration::from_secs(600);

#[derive(Clone)]
pub(super) struct CatalogueCache(Arc<ByteCache<Key, CachedCatalogue>>);

type Key = (OrganizationId, AgentId, AccountId);

#[derive(Clone)]
struct CachedCatalogue {
    made_from: MadeFrom,
    catalogue: Arc<Catalogue>,
}

/// What a catalogue depends on, read before it is made.
#[derive(Clone)]
pub(super) struct MadeFrom {
    /// The store reads it anew after every change of a tool or an agent of the organisation: the same one means the same tools.
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

impl Default for CatalogueCache {
    fn default() -> Self {
        Self(Arc::new(ByteCache::new(CATALOGUES).with_ttl(TTL)))
    }
}

impl CatalogueCache {
    pub fn get(&self, principal: &Principal, now: &MadeFrom) -> Option<Arc<Catalogue>> {
        let entry = self.0.get(&build_key(principal, now)).filter(|entry| now.is_as(&entry.made_from));
        entry.map(|entry| entry.catalogue)
    }

    pub fn keep(&self, principal: &Principal, made_from: MadeFrom, catalogue: Arc<Catalogue>) {
        self.0.insert(build_key(principal, &made_from), CachedCatalogue { made_from, catalogue });
    }

    pub fn drop_expired(&self) {
        self.0.drop_expired();
    }
}

/// The running agent is that of the catalogue.
impl HeapBytes for CachedCatalogue {
    fn heap_bytes(&self) -> usize {
        self.catalogue.heap_bytes() + self.made_from.grants.heap_bytes()
    }
}

fn build_key(principal: &Principal, made_from: &MadeFrom) -> Key {
    (principal.organization.clone(), made_from.running.agent.id.clone(), principal.account.clone())
}
