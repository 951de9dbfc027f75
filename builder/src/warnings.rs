//! Warnings: declarations that build, but that most likely do not do what their author means.

mod limits;
mod rules;
mod schemas;

use registry::{HostPattern, SchemaText, VersionSettings};
use runner::Limits;
use serde_json::Value;

use crate::steps::manifest::Manifest;

/// Finds the declarations of a built tool that warrant a warning. Its cost is linear in the size of the schemas.
#[must_use]
pub fn find(manifest: &Manifest, input_schema: &Value, settings: &VersionSettings, limits_max: &Limits) -> Vec<String> {
    let mut found = Vec::new();
    if settings.apis.is_empty() {
        found.extend(schemas::find("the input schema", input_schema));
        found.extend(settings.output_schema.iter().flat_map(|schema| find_in_text("the output schema", schema)));
    }
    for (name, api) in &settings.apis {
        found.extend(find_in_text(&format!("the input schema of {name}"), &api.input_schema));
        let outputs = api.output_schema.iter();
        found.extend(outputs.flat_map(|schema| find_in_text(&format!("the output schema of {name}"), schema)));
    }
    found.extend(rules::find(&manifest.intervention_rules, input_schema));
    found.extend(find_secrets_without_a_way(manifest));
    found.extend(limits::find(manifest, limits_max));
    found
}

fn find_in_text(name: &str, schema: &SchemaText) -> Vec<String> {
    schemas::find(name, &schema.value())
}

/// Secrets for hosts that the tool may not reach: no request carries them.
fn find_secrets_without_a_way(manifest: &Manifest) -> Vec<String> {
    let allowed: Vec<_> = manifest.allowed_hosts.iter().filter_map(|host| HostPattern::parse(host).ok()).collect();
    let is_reached = |host: &str| {
        HostPattern::parse(host).is_ok_and(|host| allowed.iter().any(|one| one.covers(&host) || host.covers(one)))
    };
    let hosts = manifest.secret_hosts.iter().flat_map(|(secret, hosts)| hosts.iter().map(move |host| (secret, host)));
    let unreached = hosts.filter(|(_, host)| !is_reached(host));
    unreached
        .map(|(secret, host)| {
            format!("secret_hosts.{secret}: no request goes to {host}, which is not in `allowed_hosts`")
        })
        .collect()
}
