//! The content of drafts and revisions, as text.

use api::wire::Assignment;

use crate::client::Client;
use crate::output::table;

/// Returns the system prompt and a table of the assigned tools.
pub async fn text(client: &Client, system_prompt: &str, assignments: &[Assignment]) -> anyhow::Result<String> {
    let names = client.tool_names(assignments.iter().map(|assignment| assignment.tool_id.as_str())).await?;
    let name = |assignment: &Assignment| {
        let id = &assignment.tool_id;
        names.get(id).cloned().unwrap_or_else(|| id.clone())
    };
    let row = |assignment: &Assignment| {
        let Assignment { version_constraint, result_persistence, additional_instruction, .. } = assignment;
        let versions = if version_constraint.is_empty() { ">=0" } else { version_constraint };
        [name(assignment), versions.to_owned(), result_persistence.clone(), additional_instruction.clone()]
    };
    let tools = match assignments {
        [] => "no tools".to_owned(),
        some => table(["tool", "versions", "result", "instruction"], some.iter().map(row)),
    };
    let prompt = if system_prompt.is_empty() { "no system prompt" } else { system_prompt };
    Ok(format!("{prompt}\n\n{tools}"))
}
