//! A cache of opened data keys: a run does not have to read and open the key of its organisation.

use std::collections::HashMap;

use parking_lot::RwLock;

use crate::account::OrganizationId;
use crate::secrets::DataKey;

/// Cached keys. Fewer organisations run tools at the same time. When the cache is full, it is cleared.
const KEYS_MAX: usize = 1_000;

#[derive(Default)]
pub(super) struct DataKeys(RwLock<HashMap<OrganizationId, DataKey>>);

impl DataKeys {
    pub(super) fn get(&self, organization: &OrganizationId) -> Option<DataKey> {
        self.0.read().get(organization).cloned()
    }

    pub(super) fn insert(&self, organization: OrganizationId, key: DataKey) {
        let mut keys = self.0.write();
        if keys.len() >= KEYS_MAX {
            keys.clear();
        }
        keys.insert(organization, key);
    }
}
