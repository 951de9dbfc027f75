//! A cache of opened data keys: a run does not have to read and open the key of its organisation.

use crate::kit::account::OrganizationId;
use crate::kit::byte_cache::{ByteCache, CacheBound};
use crate::secrets::DataKey;

/// Keys of some 2,000 organisations. Fewer run tools at the same time.
pub(super) const DATA_KEYS: CacheBound = CacheBound { name: "data keys", bytes_max: 1 << 20 };

pub(super) struct DataKeys(ByteCache<OrganizationId, DataKey>);

impl Default for DataKeys {
    fn default() -> Self {
        Self(ByteCache::new(DATA_KEYS))
    }
}

impl DataKeys {
    pub(super) fn get(&self, organization: &OrganizationId) -> Option<DataKey> {
        self.0.get(organization)
    }

    pub(super) fn insert(&self, organization: OrganizationId, key: DataKey) {
        self.0.insert(organization, key);
    }
}
