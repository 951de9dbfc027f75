//! Manifests of LobeChat plugins.

use std::collections::BTreeMap;

use agents::{Agent, Catalogue, ListedSource, ListedTool, RunningAgent, library_instructions};
use mcp::find_title;
use serde_json::{Value, json};

/// A family of the tools of a catalogue.
pub(super) struct Family<'a> {
    name: &'a str,
    identifier: String,
    running: &'a RunningAgent,
    tools: Vec<&'a ListedTool>,
}

/// Returns the families, each of which has a manifest.
pub(super) fn group_families(catalogue: &Catalogue) -> Vec<Family<'_>> {
    let running = &*catalogue.running;
    let mut families = BTreeMap::<(&str, String), Vec<&ListedTool>>::new();
    for tool in &catalogue.tools {
        families.entry((tool.family(), build_identifier(tool, &running.agent))).or_default().push(tool);
    }
    families.into_iter().map(|((name, identifier), tools)| Family { name, identifier, running, tools }).collect()
}

impl Family<'_> {
    pub(super) fn render_manifest(&self) -> Value {
        let Self { name, identifier, running, tools } = self;
        // A tool with APIs may have the name of a family of the Library.
        let instructions = match tools.iter().find(|tool| tool.api().is_some()) {
            Some(of_api) => of_api.system_role(),
            None => library_instructions(name, |name| tools.iter().any(|tool| tool.name == name)),
        };
        let mut manifest = json!({
            "identifier": identifier,
            "type": "default",
            "version": "1",
            "meta": render_meta(tools.first().copied(), &running.agent),
            "api": tools.iter().map(|tool| render_api(tool, running)).collect::<Vec<_>>(),
        });
        if let Some(instructions) = instructions {
            manifest["systemRole"] = json!(instructions);
        }
        manifest
    }
}

/// The identifier of the family of a tool. It stays in the history of conversations, so that it has ids, which never change.
fn build_identifier(tool: &ListedTool, agent: &Agent) -> String {
    match &tool.source {
        ListedSource::Published { callable, api: Some(_), .. } => format!("lathe-{}-{}", agent.id, callable.tool.id),
        _ => format!("lathe-{}-{}", agent.id, tool.family()),
    }
}

/// The texts of a family for people: those of the tool whose APIs it has, or of the agent.
fn render_meta(tool: Option<&ListedTool>, agent: &Agent) -> Value {
    let (title, description) = match tool.map(|tool| &tool.source) {
        Some(ListedSource::Published { callable, api: Some(_), .. }) => {
            (callable.tool.name.as_str(), callable.tool.description.as_str())
        }
        _ => (agent.name.as_str(), agent.description.as_str()),
    };
    json!({"title": title, "description": description, "avatar": "🔧"})
}

/// A function of a plugin: the tool's own title and description, and whether a person confirms its calls.
fn render_api(tool: &ListedTool, running: &RunningAgent) -> Value {
    let mut api =
        json!({"name": tool.name, "description": tool.description(), "parameters": tool.model_input_schema()});
    if let Some(title) = find_title(tool) {
        api["title"] = json!(title);
    }
    let intervention = tool.strictest_intervention(running);
    if !intervention.is_never() {
        api["humanIntervention"] = json!(intervention);
    }
    api
}
