//! What a version is made of: a `CycloneDX` document, version 1.6.

use serde_json::{Value, json};

use super::{Facts, Package, RELEASE};
use crate::component::Artefact;

/// The bill of materials.
pub fn document(facts: &Facts<'_>) -> Value {
    let tool = format!("tool:{}@{}", facts.tool_name, facts.version);
    let parts: Vec<Value> = image(facts).into_iter().chain(facts.packages.iter().map(package)).collect();
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
                "hashes": [hash("sha256", &facts.artefact.component_digest().to_hex())],
            },
        },
        "components": parts,
        "dependencies": [{"ref": tool, "dependsOn": references}],
    })
}

/// The interpreter.
fn image(facts: &Facts<'_>) -> Option<Value> {
    let Artefact::Bundle { image, image_name: name, .. } = facts.artefact else { return None };
    Some(json!({
        "type": "platform",
        "bom-ref": format!("image:{name}"),
        "name": name,
        "hashes": [hash("sha256", &image.to_hex())],
    }))
}

fn package(package: &Package) -> Value {
    let url = package.url();
    let mut value = json!({
        "type": "library",
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
