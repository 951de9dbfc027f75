//! The provenance of a version: an in-toto statement with SLSA provenance, version 1.

use registry::Digest;
use serde_json::{Value, json};

use super::facts::{BUILD_TYPE, BUILDER, Facts, RELEASE};
use super::package::Package;

const STATEMENT_TYPE: &str = "https://in-toto.io/Statement/v1";
const PREDICATE_TYPE: &str = "https://slsa.dev/provenance/v1";

/// The provenance statement, which names `sbom` by its digest.
pub fn build_document(facts: &Facts<'_>, sbom: &[u8]) -> Value {
    let component = facts.artifact.component_digest().to_hex();
    json!({
        "_type": STATEMENT_TYPE,
        "subject": [{"name": format!("{}@{}", facts.tool_name, facts.version), "digest": {"sha256": component}}],
        "predicateType": PREDICATE_TYPE,
        "predicate": {
            "buildDefinition": {
                "buildType": BUILD_TYPE,
                "externalParameters": describe_parameters(facts),
                "internalParameters": {"language": facts.language.as_str()},
                "resolvedDependencies": list_dependencies(facts),
            },
            "runDetails": {
                "builder": {"id": BUILDER, "version": {"lathe": RELEASE}},
                "metadata": {
                    "invocationId": facts.lease.build.as_str(),
                    "startedOn": facts.lease.acquired_at.to_string(),
                    "finishedOn": facts.finished_at.to_string(),
                },
                "byproducts": [{"name": "sbom.cdx.json", "digest": {"sha256": Digest::of(sbom).to_hex()}}],
            },
        },
    })
}

/// Whether a component is the subject of a statement.
pub fn is_of(statement: &Value, component: &Digest) -> bool {
    statement.pointer("/subject/0/digest/sha256").and_then(Value::as_str) == Some(component.to_hex().as_str())
}

/// The parameters that the caller chose.
fn describe_parameters(facts: &Facts<'_>) -> Value {
    json!({
        "organization": facts.organization().as_str(),
        "tool_id": facts.tool().as_str(),
        "branch": facts.branch,
        "commit": facts.commit.to_string(),
        "project_path": facts.project_path,
        "bump": facts.bump.as_str(),
    })
}

/// The inputs of the build: the commit, the language image, the snapshot of the image with its packages, and the
/// packages.
fn list_dependencies(facts: &Facts<'_>) -> Vec<Value> {
    let repository = format!("urn:lathe:repository:{}", facts.organization());
    let commit = json!({"uri": repository, "digest": {"gitCommit": facts.commit.to_string()}});
    let image = |(name, digest): (&str, &Digest)| json!({"uri": format!("urn:lathe:image:{name}"), "digest": {"sha256": digest.to_hex()}});
    let image = facts.artifact.language_image().map(image);
    let snapshot = facts.artifact.snapshot().map(|_| {
        let digest = facts.artifact.code().component.to_hex();
        json!({"uri": "urn:lathe:snapshot", "digest": {"sha256": digest}})
    });
    std::iter::once(commit).chain(image).chain(snapshot).chain(facts.packages.iter().map(describe_package)).collect()
}

fn describe_package(package: &Package) -> Value {
    let mut value = json!({"uri": package.url()});
    if let Some(hash) = &package.hash {
        value["digest"] = json!({hash.algorithm: hash.hex});
    }
    value
}
