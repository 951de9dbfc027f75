//! The tools of the server that can be called in every turn.

use agents::Turns;

use crate::wire::SystemTool;

pub(super) fn list_system_tools(turns: &Turns) -> Vec<SystemTool> {
    let shown = turns.turn_tools().map(|tool| SystemTool {
        name: tool.name.clone(),
        description: tool.description.to_owned(),
        input_schema: tool.input_schema.clone(),
        output_schema: tool.output_schema.clone(),
    });
    shown.collect()
}
