//! The system prompt of a run.

use super::run_checkpoint::RunCheckpoint;
use crate::catalogue::Catalogue;
use crate::library::library_instructions;

/// Returns the system prompt of the agent, with the instructions of the families whose tools the run has: those of the Library, and
/// those of published tools with APIs.
pub(super) fn build_system_prompt(catalogue: &Catalogue, checkpoint: &RunCheckpoint) -> String {
    let own = catalogue.running.revision.content.system_prompt.as_str().to_owned();
    let has_tool = |name: &str| checkpoint.allows_tool(name) && catalogue.find(name).is_some();
    let instructions = catalogue.families().into_iter().filter_map(|family| library_instructions(family, has_tool));
    let instructions = instructions.chain(catalogue.system_roles(has_tool));
    let parts = std::iter::once(own).chain(instructions).filter(|part| !part.trim().is_empty());
    parts.collect::<Vec<_>>().join("\n\n")
}
