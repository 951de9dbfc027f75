//! Keeps the immutable parts of versions in memory.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::RwLock;
use registry::VersionId;

use crate::egress::CompiledMocks;
use crate::error::DamagedArtifact;
use crate::execution::Code;
use crate::intervention_rules::InterventionRules;
use crate::output_schemas::OutputSchemas;
use crate::schema::InputSchema;

/// Versions that stay in memory.
const VERSIONS_MAX: usize = 1_024;
/// Bytes of all bundles and mocks together. Most have some kilobytes; 1,024 of the largest, 24 MiB each, would take 24
/// GiB.
const BUNDLE_BYTES_MAX: usize = 256 << 20;

/// The code and schemas of one version.
#[derive(Debug)]
pub(crate) struct LoadedVersion {
    /// The code, or the damage for which every run fails. A damaged version is not cached.
    pub(crate) code: Result<Code, DamagedArtifact>,
    pub(crate) schema: InputSchema,
    pub(crate) outputs: OutputSchemas,
    /// Rules for calls that a person confirms because of their arguments.
    pub(crate) rules: InterventionRules,
    pub(crate) mocks: Arc<CompiledMocks>,
}

impl LoadedVersion {
    /// Bytes that depend on the size of the author's files.
    fn bytes(&self) -> usize {
        self.code.as_ref().map_or(0, |code| code.bundle.bytes().len()) + self.mocks.bytes()
    }
}

/// A cache of versions. At a bound it is emptied, which needs no bookkeeping; versions in use are loaded again
/// immediately.
#[derive(Debug, Default)]
pub(crate) struct VersionCache(RwLock<CachedVersions>);

#[derive(Debug, Default)]
struct CachedVersions {
    versions: HashMap<VersionId, Arc<LoadedVersion>>,
    bundle_bytes: usize,
}

impl VersionCache {
    pub(crate) fn get(&self, id: &VersionId) -> Option<Arc<LoadedVersion>> {
        self.0.read().versions.get(id).cloned()
    }

    pub(crate) fn keep(&self, id: VersionId, loaded: Arc<LoadedVersion>) {
        self.0.write().keep(id, loaded);
    }
}

impl CachedVersions {
    fn keep(&mut self, id: VersionId, loaded: Arc<LoadedVersion>) {
        let bytes = loaded.bytes();
        if self.versions.len() >= VERSIONS_MAX || self.bundle_bytes + bytes > BUNDLE_BYTES_MAX {
            self.versions.clear();
            self.bundle_bytes = 0;
        }
        self.bundle_bytes += bytes;
        // Two calls may load a version at the same time.
        if let Some(replaced) = self.versions.insert(id, loaded) {
            self.bundle_bytes -= replaced.bytes();
        }
    }
}

#[cfg(test)]
mod tests {
    use registry::{Clock, Digest};

    use super::*;
    use crate::CodeBundle;

    fn loaded(bundle: &CodeBundle) -> Arc<LoadedVersion> {
        let code = Code { component: Digest::of(b"image"), bundle: bundle.clone() };
        let schema = InputSchema::compile(&serde_json::json!({})).unwrap();
        Arc::new(LoadedVersion {
            code: Ok(code),
            schema,
            outputs: OutputSchemas::default(),
            rules: InterventionRules::default(),
            mocks: Arc::default(),
        })
    }

    fn bundle(bytes: usize) -> CodeBundle {
        CodeBundle::new(vec![0; bytes])
    }

    #[test]
    fn bundles_have_a_bound_together() {
        let (mut held, clock, large) = (CachedVersions::default(), Clock::system(), bundle(8 << 20));
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
        let (mut held, clock, small) = (CachedVersions::default(), Clock::system(), bundle(1));
        for _ in 0..=VERSIONS_MAX {
            held.keep(VersionId::new(&clock), loaded(&small));
        }
        assert_eq!((held.versions.len(), held.bundle_bytes), (1, 1));
    }

    #[test]
    fn a_version_loaded_twice_counts_once() {
        let (versions, id) = (VersionCache::default(), VersionId::new(&Clock::system()));
        for _ in 0..2 {
            versions.keep(id.clone(), loaded(&bundle(10)));
        }
        assert_eq!(versions.0.read().bundle_bytes, 10);
        assert_eq!(versions.get(&id).unwrap().code.as_ref().unwrap().bundle.bytes().len(), 10);
        assert!(versions.get(&VersionId::new(&Clock::system())).is_none());
    }
}
