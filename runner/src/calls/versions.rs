//! Keeps the immutable parts of versions in memory.

use std::sync::Arc;

use registry::{ByteCache, CacheBound, HeapBytes, VersionId, allocated};

use crate::calls::intervention_rules::InterventionRules;
use crate::calls::output_schemas::OutputSchemas;
use crate::calls::schema::InputSchema;
use crate::error::DamagedArtifact;
use crate::sandbox::egress::CompiledMocks;
use crate::sandbox::execution::Code;

/// Bundles, mocks and schemas of all versions. Most have some kilobytes, the largest bundle 24 MiB.
pub(crate) const VERSIONS: CacheBound = CacheBound { name: "loaded versions", bytes_max: 256 << 20 };

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

impl HeapBytes for LoadedVersion {
    fn heap_bytes(&self) -> usize {
        let code = self.code.as_ref().map_or(0, |code| allocated(code.bundle.bytes().len()));
        let schemas = self.schema.heap_bytes() + self.outputs.heap_bytes();
        code + schemas + self.rules.heap_bytes() + allocated(self.mocks.bytes())
    }
}

/// A cache of versions.
#[derive(Debug)]
pub(crate) struct VersionCache(ByteCache<VersionId, Arc<LoadedVersion>>);

impl Default for VersionCache {
    fn default() -> Self {
        Self(ByteCache::new(VERSIONS))
    }
}

impl VersionCache {
    pub(crate) fn get(&self, id: &VersionId) -> Option<Arc<LoadedVersion>> {
        self.0.get(id)
    }

    pub(crate) fn keep(&self, id: VersionId, loaded: Arc<LoadedVersion>) {
        self.0.insert(id, loaded);
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
        let (held, clock, large) = (VersionCache::default(), Clock::system(), bundle(8 << 20));
        for _ in 0..100 {
            held.keep(VersionId::new(&clock), loaded(&large));
            assert!(held.0.bytes() <= VERSIONS.bytes_max, "{} bytes", held.0.bytes());
        }
        assert!(held.0.count() < VERSIONS.bytes_max / (8 << 20));
    }

    #[test]
    fn a_version_loaded_twice_counts_once() {
        let (versions, id) = (VersionCache::default(), VersionId::new(&Clock::system()));
        versions.keep(id.clone(), loaded(&bundle(10)));
        let bytes = versions.0.bytes();
        versions.keep(id.clone(), loaded(&bundle(10)));
        assert_eq!(versions.0.bytes(), bytes);
        assert_eq!(versions.get(&id).unwrap().code.as_ref().unwrap().bundle.bytes().len(), 10);
        assert!(versions.get(&VersionId::new(&Clock::system())).is_none());
    }
}
