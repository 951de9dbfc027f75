//! The data keys that were opened lately, so that a run need not read and open its organisation's.

use std::collections::HashMap;
use std::sync::{PoisonError, RwLock};

use crate::account::OrganizationId;
use crate::secrets::DataKey;

/// Organisations that run something at the same time are fewer.
const KEYS_MAX: usize = 1_000;

/// At its bound all is forgotten; a key comes back with its next use.
#[derive(Default)]
pub(super) struct DataKeys(RwLock<HashMap<OrganizationId, DataKey>>);

impl DataKeys {
    pub(super) fn get(&self, organization: &OrganizationId) -> Option<DataKey> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).get(organization).cloned()
    }

    pub(super) fn keep(&self, organization: OrganizationId, key: DataKey) {
        let mut keys = self.0.write().unwrap_or_else(PoisonError::into_inner);
        if keys.len() >= KEYS_MAX {
            keys.clear();
        }
        keys.insert(organization, key);
    }
}
