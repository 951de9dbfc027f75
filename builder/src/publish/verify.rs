//! Verification: rebuilds a version from its commit, and compares the results.

use registry::{Principal, ToolVersion};
use repository::CommitId;
use tracing::Instrument;

use super::builder::{Builder, Commit};
use crate::attestation;
use crate::built::Built;
use crate::error::Error;
use crate::metrics;
use crate::progress::BuildProgress;
use crate::toolchain::project::Caches;

/// The result of rebuilding a version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verification {
    pub differences: Vec<VersionDifference>,
    /// Whether the provenance has a valid signature and names this component.
    pub is_signed: bool,
}

/// A difference between two builds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VersionDifference {
    pub what: &'static str,
    pub published: String,
    pub rebuilt: String,
}

impl Builder {
    /// Builds the version's commit again, with empty caches, and compares the results.
    ///
    /// # Errors
    /// When a stage refuses the project. A release may refuse projects that an earlier one accepted.
    pub async fn verify(
        &self,
        principal: &Principal,
        version: &ToolVersion,
        progress: BuildProgress,
    ) -> Result<Verification, Error> {
        let admitted = self.admit(principal)?;
        let commit = CommitId::parse(&version.commit).map_err(Error::internal)?;
        let build = async {
            let repository = self.repository(&principal.organization).await?;
            let of = Commit::new(&repository, commit, &version.project_path);
            self.build(Commit { caches: Caches::Empty, ..of }, &admitted, &progress).await
        };
        let span = tracing::info_span!("build", kind = "verify", tool = %version.tool);
        let built = metrics::count_build("verify", build.instrument(span)).await?;
        let attestation = self.store.versions().attestation(version).await?;
        let is_valid = |found| attestation::is_valid(found, &version.component_digest);
        let is_signed = attestation.as_ref().is_some_and(is_valid);
        let mut differences = find_differences(version, &built);
        if let Some(found) = attestation.filter(|_| !differences.is_empty()) {
            differences.extend(compare_toolchains(&found.sbom, &built));
        }
        Ok(Verification { differences, is_signed })
    }
}

/// The difference in toolchains. It is reported only if the results differ, since another compiler may produce the same
/// bytes.
fn compare_toolchains(sbom: &str, built: &Built) -> Option<VersionDifference> {
    let (published, rebuilt) = attestation::list_programs(sbom, &built.packages);
    (published != rebuilt).then_some(VersionDifference { what: "toolchain", published, rebuilt })
}

fn find_differences(version: &ToolVersion, built: &Built) -> Vec<VersionDifference> {
    let image = built.artifact.code().component;
    let bundle = |digest: Option<registry::Digest>| digest.map_or("none".to_owned(), |digest| digest.to_string());
    let pairs = [
        ("image_digest", version.image_digest.to_string(), image.to_string()),
        ("bundle_digest", bundle(version.bundle_digest), bundle(built.artifact.bundle_digest())),
        ("component_digest", version.component_digest.to_string(), built.artifact.component_digest().to_string()),
        ("input_schema", version.input_schema.as_str().to_owned(), built.input_schema.to_string()),
    ];
    let differs = |(what, published, rebuilt): (&'static str, String, String)| {
        (published != rebuilt).then_some(VersionDifference { what, published, rebuilt })
    };
    pairs.into_iter().filter_map(differs).collect()
}
