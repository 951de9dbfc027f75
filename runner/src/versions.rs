//! What never changes about a version, kept in memory for the next call.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

use registry::VersionId;

use crate::{Code, Damage, InputSchema, Standins};

/// Versions whose schema and bundle stay in memory.
const VERSIONS_MAX: usize = 1_024;
/// All their bundles and mocks together. Most have some kilobytes; the largest allowed, of 8 MiB, would be 8 GiB otherwise.
const BUNDLE_BYTES_MAX: usize = 256 << 20;

/// One version.
#[derive(Debug)]
pub(crate) struct Loaded {
    /// Or why its runs fail. That is looked at anew each time.
    pub(crate) code: Result<Code, Damage>,
    pub(crate) schema: InputSchema,
    /// Of outputs.
    pub(crate) output: Option<InputSchema>,
    pub(crate) mocks: Arc<Standins>,
}

impl Loaded {
    /// What grows with what an author wrote.
    fn bytes(&self) -> usize {
        self.code.as_ref().map_or(0, |code| code.bundle.len()) + self.mocks.bytes()
    }
}

/// At a bound everything is forgotten: what is in use comes back at once, and nobody has to count uses.
#[derive(Debug, Default)]
pub(crate) struct Versions(RwLock<Held>);

#[derive(Debug, Default)]
struct Held {
    versions: HashMap<VersionId, Arc<Loaded>>,
    bundle_bytes: usize,
}

impl Versions {
    pub(crate) fn get(&self, id: &VersionId) -> Option<Arc<Loaded>> {
        // A panic while the lock was held cannot have left the table half written.
        self.0.read().unwrap_or_else(PoisonError::into_inner).versions.get(id).cloned()
    }

    pub(crate) fn keep(&self, id: VersionId, loaded: Arc<Loaded>) {
        self.0.write().unwrap_or_else(PoisonError::into_inner).keep(id, loaded);
    }
}

impl Held {
    fn keep(&mut self, id: VersionId, loaded: Arc<Loaded>) {
        let bytes = loaded.bytes();
        if self.versions.len() >= VERSIONS_MAX || self.bundle_bytes + bytes > BUNDLE_BYTES_MAX {
            self.versions.clear();
            self.bundle_bytes = 0;
        }
        self.bundle_bytes += bytes;
        // Two calls may have loaded it at the same time.
        if let Some(twin) = self.versions.insert(id, loaded) {
            self.bundle_bytes -= twin.bytes();
        }
    }
}

#[cfg(test)]
mod tests {
    use registry::{Clock, Digest};

    use super::*;

    fn loaded(bundle: &Arc<[u8]>) -> Arc<Loaded> {
        let code = Code { component: Digest::of(b"image"), bundle: bundle.clone() };
        let schema = InputSchema::compile(&serde_json::json!({})).unwrap();
        Arc::new(Loaded { code: Ok(code), schema, output: None, mocks: Arc::default() })
    }

    fn bundle(bytes: usize) -> Arc<[u8]> {
        vec![0; bytes].into()
    }

    #[test]
    fn bundles_have_a_bound_together() {
        let (mut held, clock, large) = (Held::default(), Clock::system(), bundle(8 << 20));
        for _ in 0..100 {
            held.keep(VersionId::new(&clock), loaded(&large));
            let sum: usize = held.versions.values().map(|version| version.bytes()).sum();
            assert_eq!(sum, held.bundle_bytes);
            assert!(sum <= BUNDLE_BYTES_MAX, "{sum} bytes");
        }
        assert_eq!(held.versions.len(), 100 % (BUNDLE_BYTES_MAX / (8 << 20)));
    }

    #[test]
    fn small_versions_have_a_bound_of_their_own() {
        let (mut held, clock, small) = (Held::default(), Clock::system(), bundle(1));
        for _ in 0..=VERSIONS_MAX {
            held.keep(VersionId::new(&clock), loaded(&small));
        }
        assert_eq!((held.versions.len(), held.bundle_bytes), (1, 1));
    }

    #[test]
    fn a_version_loaded_twice_counts_once() {
        let (versions, id) = (Versions::default(), VersionId::new(&Clock::system()));
        for _ in 0..2 {
            versions.keep(id.clone(), loaded(&bundle(10)));
        }
        assert_eq!(versions.0.read().unwrap().bundle_bytes, 10);
        assert_eq!(versions.get(&id).unwrap().code.as_ref().unwrap().bundle.len(), 10);
        assert!(versions.get(&VersionId::new(&Clock::system())).is_none());
    }
}
