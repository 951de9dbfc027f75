//! The result of a run: its answer, its question or its error.

use api::wire::AgentRun;

use crate::failure::Outcome;
use crate::output::escape_hidden;

/// The statuses of runs without an answer.
const UNSUCCESSFUL: [&str; 2] = ["failed", "cancelled"];

/// Returns the id and the status of a run, with what came of it.
pub fn render_result(run: &AgentRun) -> String {
    let AgentRun { agent_run_id, status, .. } = run;
    let mut parts = vec![format!("run     {agent_run_id}\nstatus  {status}")];
    parts.extend(list_result_parts(run));
    escape_hidden(&parts.join("\n\n"))
}

/// Returns the error, the answer and the question of a run, with the command that shows its request.
pub fn list_result_parts(run: &AgentRun) -> impl Iterator<Item = String> {
    let AgentRun { final_answer, question, human_request_id, error, .. } = run;
    let error = error.as_ref().map(|error| format!("{} ({})", error.message, error.code));
    let question = question.as_ref().map(|asked| asked.question.clone());
    let request = human_request_id.as_ref().map(|id| format!("To see its request:\n  lathe inbox show {id}"));
    [error, final_answer.clone(), question, request].into_iter().flatten()
}

/// Returns the outcome of a command that ends with a run.
pub fn choose_outcome(run: &AgentRun) -> Outcome {
    if UNSUCCESSFUL.contains(&run.status.as_str()) { Outcome::Failed } else { Outcome::Done }
}
