//! `lathe inbox answer --wait`: waits until a run has ended or asks again.

use crate::client::{AgentRun, Client};
use crate::failure::{Failure, Outcome};
use crate::output::{Progress, Screen, printable};

/// The run continues when the wait for it fails.
const ADVICE: &str = "the answer was accepted, and the run goes on";

pub async fn run(client: &Client, id: &str, screen: Screen) -> anyhow::Result<Outcome> {
    let progress = Progress::start("waiting");
    progress.show(format!("the run {id} goes on"));
    let waited = client.wait_for_agent_run(id).await;
    drop(progress);
    let run = waited.map_err(|error| Failure::advised(error, ADVICE.to_owned()))?;
    screen.answer(&run.document, || text(&run.body))?;
    Ok(if matches!(run.body.status.as_str(), "failed" | "cancelled") { Outcome::Failed } else { Outcome::Done })
}

fn text(run: &AgentRun) -> String {
    let AgentRun { agent_run_id, status, final_answer, question, human_request_id, error } = run;
    let mut parts = vec![format!("run     {agent_run_id}\nstatus  {status}")];
    parts.extend(error.as_ref().map(|error| format!("{} ({})", error.message, error.code)));
    parts.extend(final_answer.clone());
    parts.extend(question.as_ref().map(|asked| asked.question.clone()));
    parts.extend(human_request_id.as_ref().map(|id| format!("To see its request:\n  lathe inbox show {id}")));
    printable(&parts.join("\n\n"))
}
