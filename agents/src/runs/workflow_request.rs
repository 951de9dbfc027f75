//! The arguments of `__run_workflow__`, and the workflow that they name.

use std::time::Duration;

use registry::{Tool, suggest_in};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::catalogue::{Catalogue, ListedSource, ListedTool};

const TIMEOUT_MS: f64 = 60_000.0;
/// Ten minutes. The run does nothing else while it waits.
const TIMEOUT_MS_MAX: f64 = 600_000.0;
/// Workflows that a message lists.
const LISTED_MAX: usize = 20;

// A request to run a workflow.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct WorkflowRequest {
    /// The id of the workflow. Either the id or the name is required.
    #[schemars(length(max = 128))]
    #[serde(default)]
    workflow_id: Option<String>,
    /// The name of the workflow.
    #[schemars(length(max = 128))]
    #[serde(default)]
    workflow_name: Option<String>,
    /// The input of the workflow.
    pub input: Map<String, Value>,
    /// Whether to wait for the end of the workflow.
    #[serde(default = "waits")]
    wait: bool,
    /// Milliseconds to wait. After this time the workflow goes on, and this call returns its workflow_run_id.
    #[schemars(range(min = 1, max = 600_000))]
    #[serde(default = "timeout_ms")]
    timeout_ms: f64,
}

/// A published tool of an agent.
pub(super) struct Workflow<'a> {
    pub listed: &'a ListedTool,
    pub tool: &'a Tool,
}

const fn waits() -> bool {
    true
}

const fn timeout_ms() -> f64 {
    TIMEOUT_MS
}

impl WorkflowRequest {
    /// Reads the arguments of a call. The error is a text for the model.
    pub fn read(arguments: Map<String, Value>) -> Result<Self, String> {
        let request: Self =
            serde_json::from_value(Value::Object(arguments)).map_err(|error| suggest_in(error.to_string()))?;
        if request.workflow_id.is_none() && request.workflow_name.is_none() {
            return Err("workflow_id or workflow_name is required".to_owned());
        }
        if !(1.0..=TIMEOUT_MS_MAX).contains(&request.timeout_ms) {
            return Err(format!("timeout_ms should be a number from 1 to {TIMEOUT_MS_MAX}"));
        }
        Ok(request)
    }

    /// The time to wait for the end of the workflow; `None` for no waiting.
    pub fn wait_max(&self) -> Option<Duration> {
        self.wait.then(|| Duration::from_secs_f64(self.timeout_ms / 1_000.0))
    }

    /// Finds the workflow among the tools of an agent. The error is a text for the model.
    pub fn find<'a>(&self, catalogue: &'a Catalogue) -> Result<Workflow<'a>, String> {
        list_workflows(catalogue).find(|workflow| self.is_for(workflow)).ok_or_else(|| self.describe_missing(catalogue))
    }

    fn is_for(&self, workflow: &Workflow<'_>) -> bool {
        let Workflow { listed, tool } = workflow;
        let is_whole = listed.api().is_none();
        let has_name = |name: &str| listed.name == name || is_whole && tool.name.as_str() == name;
        // The id of a tool names none of its APIs.
        (is_whole || self.workflow_name.is_some())
            && self.workflow_id.as_deref().is_none_or(|id| tool.id.as_str() == id)
            && self.workflow_name.as_deref().is_none_or(has_name)
    }

    fn describe_missing(&self, catalogue: &Catalogue) -> String {
        let named_by = match (&self.workflow_id, &self.workflow_name) {
            (Some(_), Some(_)) => "this id and this name",
            (Some(_), None) => "this id",
            (None, _) => "this name",
        };
        let names: Vec<_> = list_workflows(catalogue).map(|workflow| workflow.listed.name.as_str()).collect();
        let listed = names.iter().take(LISTED_MAX).copied().collect::<Vec<_>>().join(", ");
        let more = if names.len() > LISTED_MAX { ", …" } else { "" };
        format!("the agent has no workflow with {named_by}; its workflows: {listed}{more}")
    }
}

fn list_workflows(catalogue: &Catalogue) -> impl Iterator<Item = Workflow<'_>> {
    catalogue.tools.iter().filter_map(|listed| match &listed.source {
        ListedSource::Published { callable, .. } => Some(Workflow { listed, tool: &callable.tool }),
        ListedSource::Native(_) => None,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn wait_max(arguments: &Value) -> Result<Option<Duration>, String> {
        WorkflowRequest::read(arguments.as_object().cloned().unwrap()).map(|request| request.wait_max())
    }

    #[test]
    fn a_call_waits_a_minute_unless_it_says_otherwise() {
        let waits = |milliseconds| Ok(Some(Duration::from_millis(milliseconds)));
        assert_eq!(wait_max(&json!({"workflow_name": "a", "input": {}})), waits(60_000));
        assert_eq!(wait_max(&json!({"workflow_id": "a", "input": {}, "timeout_ms": 600_000})), waits(600_000));
        assert_eq!(wait_max(&json!({"workflow_id": "a", "input": {}, "wait": false})), Ok(None));
        for wrong in [json!(0.5), json!(-1), json!(600_001)] {
            let refused = wait_max(&json!({"workflow_id": "a", "input": {}, "timeout_ms": wrong})).unwrap_err();
            assert_eq!(refused, "timeout_ms should be a number from 1 to 600000");
        }
    }
}
