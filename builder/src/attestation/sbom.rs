//! The bill of materials of a version: a `CycloneDX` document, version 1.6.

use serde_json::{Value, json};

use super::facts::{Facts, RELEASE};
use super::package::Package;

/// The package URL type of programs that are in no registry, such as compilers and bundlers.
const GENERIC: &str = "generic";

/// The bill of materials.
pub fn build_document(facts: &Facts<'_>) -> Value {
    let tool = format!("tool:{}@{}", facts.tool_name, facts.version);
    let parts: Vec<Value> =
        describe_image(facts).into_iter().chain(facts.packages.iter().map(describe_package)).collect();
    let references: Vec<&Value> = parts.iter().map(|part| &part["bom-ref"]).collect();
    json!({
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "timestamp": facts.finished_at.to_string(),
            "tools": {"components": [{"type": "application", "name": "lathe", "version": RELEASE}]},
            "component": {
                "type": "application",
                "bom-ref": tool,
                "name": facts.tool_name,
                "version": facts.version.to_string(),
                "hashes": [hash("sha256", &facts.artifact.component_digest().to_hex())],
            },
        },
        "components": parts,
        "dependencies": [{"ref": tool, "dependsOn": references}],
    })
}

/// Lists the programs that built a version, from its bill of materials, and the programs of a rebuild in the same
/// format.
pub fn list_programs(sbom: &str, rebuilt: &[Package]) -> (String, String) {
    let document: Value = serde_json::from_str(sbom).unwrap_or_default();
    let published = document["components"].as_array().into_iter().flatten();
    let rebuilt: Vec<Value> = rebuilt.iter().map(describe_package).collect();
    (join_programs(published), join_programs(rebuilt.iter()))
}

fn join_programs<'v>(components: impl Iterator<Item = &'v Value>) -> String {
    let generic = format!("pkg:{GENERIC}/");
    let described = |component: &Value| {
        let url = component["purl"].as_str().filter(|url| url.starts_with(&generic))?;
        Some(format!("{url} {}", component["hashes"][0]["content"].as_str().unwrap_or_default()))
    };
    components.filter_map(described).collect::<Vec<_>>().join(", ")
}

/// The language image, if the version uses one.
fn describe_image(facts: &Facts<'_>) -> Option<Value> {
    let (name, image) = facts.artifact.language_image()?;
    Some(json!({
        "type": "platform",
        "bom-ref": format!("image:{name}"),
        "name": name,
        "hashes": [hash("sha256", &image.to_hex())],
    }))
}

fn describe_package(package: &Package) -> Value {
    let url = package.url();
    let mut value = json!({
        "type": if package.kind == GENERIC { "application" } else { "library" },
        "bom-ref": url,
        "name": package.name,
        "version": package.version,
        "purl": url,
    });
    if let Some(found) = &package.hash {
        value["hashes"] = json!([hash(found.algorithm, &found.hex)]);
    }
    value
}

fn hash(algorithm: &str, hex: &str) -> Value {
    let name = if algorithm == "sha512" { "SHA-512" } else { "SHA-256" };
    json!({"alg": name, "content": hex})
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::attestation::Hash;

    #[test]
    fn programs_are_listed_with_their_digests_and_packages_are_not() {
        let package = |kind, name: &str, hex: &str| Package {
            kind,
            name: name.to_owned(),
            version: "1.0".to_owned(),
            hash: Some(Hash::sha256(hex.to_owned())),
        };
        let published = [package("cargo", "serde", "aa"), package("generic", "rust", "bb")];
        let sbom = json!({"components": published.iter().map(super::describe_package).collect::<Vec<_>>()}).to_string();
        let rebuilt = [package("cargo", "serde", "aa"), package("generic", "rust", "cc")];
        let (published, rebuilt) = list_programs(&sbom, &rebuilt);
        assert_eq!((published.as_str(), rebuilt.as_str()), ("pkg:generic/rust@1.0 bb", "pkg:generic/rust@1.0 cc"));
        assert_eq!(list_programs("no document", &[]), (String::new(), String::new()));
    }
}
