//! The families of the Library of a run.

use serde_json::{Value, json};

use super::runs::Runs;
use crate::harness::Reply;
use crate::mcp::client::Gateway;

const AGENT: &str = "archivist";

#[test]
fn s0_016_a_run_has_other_families_than_its_agent() {
    let runs = Runs::shared();
    let lathe = runs.team.lathe();
    let agent = Gateway::of_type(&runs.team, AGENT, "agent");
    lathe.ok(&["agent", "edit", AGENT, "--families", "skills"]);
    let _agent = agent.with(&[]);
    let body = |families: Value, tool: &str| json!({"agent": AGENT, "objective": "families of a run", "tools": [tool, "__complete__"], "builtInTools": families});
    let refused = |families: Value, tool: &str| {
        let refused = runs.post("/agents/execute", &body(families, tool));
        assert_eq!((refused.status, refused.code().as_str()), (400, "run_tool_unknown"), "{refused}");
    };
    refused(Value::Null, "memory_list");
    refused(json!({"allowedFamilies": ["memory"]}), "skill_list");
    refused(json!({"disabled": ["skills"]}), "skill_list");
    refused(json!({"allowedFamilies": []}), "skill_list");
    let families = json!({"allowedFamilies": ["memory"]});
    let replies = vec![Reply::call("memory_list", json!({})), Reply::complete("none")];
    let run = runs.execute_with(body(families, "memory_list"), replies);
    assert_eq!(run["status"], "completed", "{run}");
    assert_eq!(runs.trace(&run)[0]["success"], true, "{run}");
}
