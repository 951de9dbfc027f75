//! Manifests of LobeChat plugins.

use std::collections::BTreeMap;

use registry::Agent;
use runner::{Catalogue, ListedSource, ListedTool};
use serde_json::{Value, json};

/// Returns one manifest for each family.
pub(super) fn manifests(catalogue: &Catalogue) -> Vec<Value> {
    let mut families = BTreeMap::<&str, Vec<&ListedTool>>::new();
    for tool in &catalogue.tools {
        families.entry(tool.family()).or_default().push(tool);
    }
    let agent = &catalogue.running.agent;
    let manifest = |(family, tools): (&str, Vec<&ListedTool>)| {
        json!({
            "identifier": format!("lathe-{}-{family}", agent.slug),
            "type": "default",
            "version": "1",
            "meta": meta(tools.first().copied(), agent),
            "api": tools.into_iter().map(api).collect::<Vec<_>>(),
        })
    };
    families.into_iter().map(manifest).collect()
}

/// The texts of a family for people: those of the tool whose APIs it has, or of the agent.
fn meta(tool: Option<&ListedTool>, agent: &Agent) -> Value {
    let (title, description) = match tool.map(|tool| &tool.source) {
        Some(ListedSource::Published { callable, api: Some(_), .. }) => {
            (callable.tool.name.as_str(), callable.tool.description.as_str())
        }
        _ => (agent.name.as_str(), agent.description.as_str()),
    };
    json!({"title": title, "description": description, "avatar": "🔧"})
}

fn api(tool: &ListedTool) -> Value {
    json!({"name": tool.name, "description": tool.description(), "parameters": tool.input_schema()})
}
