//! The content of drafts and revisions, as text.

use agents::{BuiltInTools, FamilyName};
use api::wire::{AgentDraft, AgentState, Assignment};

use super::intervention;
use crate::client::Client;
use crate::output::render_table;

/// Characters of a digest in the table; JSON has all of it.
const DIGEST_CHARACTERS: usize = "sha256:".len() + 12;

/// Returns the system prompt, the tool exposure and a table of the assigned tools.
pub async fn render_text(client: &Client, content: &AgentDraft) -> anyhow::Result<String> {
    let AgentDraft { system_prompt, tool_exposure, built_in_tools, assignments, states } = content;
    let names = client.find_tool_names(assignments.iter().map(|assignment| assignment.tool_id.as_str())).await?;
    let name = |assignment: &Assignment| {
        let id = &assignment.tool_id;
        names.get(id.as_str()).cloned().unwrap_or_else(|| id.to_string())
    };
    let row = |assignment: &Assignment| {
        let Assignment { version_constraint, result_persistence, additional_instruction, human_intervention, .. } =
            assignment;
        let versions = if version_constraint.is_empty() { ">=0" } else { version_constraint };
        let instruction = additional_instruction.clone();
        let asked = intervention::show_intervention(human_intervention);
        [
            name(assignment),
            versions.to_owned(),
            abbreviate_pin(assignment),
            asked,
            result_persistence.clone(),
            instruction,
        ]
    };
    let tools = match &assignments[..] {
        [] => "no tools".to_owned(),
        some => render_table(
            ["tool", "versions", "pinned to", "confirmation", "result", "instruction"],
            some.iter().map(row),
        ),
    };
    let prompt = if system_prompt.is_empty() { "no system prompt" } else { system_prompt };
    let states = match &states[..] {
        [] => String::new(),
        some => format!("\n\n{}", render_table(["state", "type", "tools"], some.iter().map(build_state_row))),
    };
    let families = render_families(built_in_tools);
    let asked = match &built_in_tools.human_intervention {
        none if none.is_empty() => String::new(),
        asked => format!("\nconfirmation: {}", intervention::show_tool_interventions(asked)),
    };
    Ok(format!("{prompt}\n\ntool exposure: {tool_exposure}\nfamilies: {families}{asked}\n\n{tools}{states}"))
}

fn render_families(tools: &BuiltInTools) -> String {
    let allowed = match tools.allowed_families.as_deref() {
        None => "all".to_owned(),
        Some([]) => "none".to_owned(),
        Some(families) => join_names(families),
    };
    match &tools.disabled[..] {
        [] => allowed,
        disabled => format!("{allowed}, without {}", join_names(disabled)),
    }
}

fn join_names(families: &[FamilyName]) -> String {
    families.iter().map(FamilyName::as_str).collect::<Vec<_>>().join(", ")
}

/// Returns the name, the type and the number of tools of a state.
pub fn build_state_row(state: &AgentState) -> [String; 3] {
    let lists = [&state.action_tool_call_specs, &state.exit_condition_tool_call_specs, &state.tool_call_specs];
    let listed: usize = lists.into_iter().flatten().map(Vec::len).sum();
    let tools = listed + usize::from(state.designated_tool.is_some());
    [state.name.clone(), state.state_type.clone(), tools.to_string()]
}

/// Returns the beginning of the pinned digest.
fn abbreviate_pin(assignment: &Assignment) -> String {
    let digest = assignment.component_digest.as_deref().unwrap_or("-");
    digest.get(..DIGEST_CHARACTERS).unwrap_or(digest).to_owned()
}
