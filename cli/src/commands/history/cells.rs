//! What lists of records show of each.

use std::collections::BTreeMap;

use api::wire::{RunOutcome, ToolInvocation};

/// A cell without a value. A branch test and a native tool have no version, and a branch test may have no tool.
pub const EMPTY: &str = "-";

/// The name of the tool of a record; `None` if it has none.
pub fn find_tool_name(invocation: &ToolInvocation, names: &BTreeMap<String, String>) -> Option<String> {
    invocation.native_tool.clone().or_else(|| names.get(&invocation.tool_id).cloned())
}

/// What came of a run: its output or its exception.
pub fn summarize(status: Option<&RunOutcome>) -> String {
    match status {
        Some(RunOutcome::Succeeded { output, .. }) => output.clone(),
        Some(RunOutcome::Failed { exception_type, exception_message, .. }) => {
            format!("✗ {exception_type}: {exception_message}")
        }
        None => "running".to_owned(),
    }
}
