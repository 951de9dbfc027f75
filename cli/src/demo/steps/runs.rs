//! Steps that run the tool: a branch before its publish, then ten inputs in parallel.

use std::collections::BTreeMap;

use anyhow::{bail, ensure};
use api::wire::{Input, InvocationResult, RunOutcome, TestTool};
use registry::InvocationMode;
use serde_json::{Value, json};

use crate::client::{Event, InvokeRequest};
use crate::demo::environment::{Environment, branch, project_path};
use crate::demo::report::StepResult;
use crate::output::RunDisplay;

/// Nine guests are greeted, one of them in French. Mallory is not on the guest list.
const GUESTS: [&str; 10] =
    ["Ada", "Grace", "Alan", "Barbara", "Donald", "Mallory", "Edsger", "Frances", "Niklaus", "Radia"];
/// The guest whom the tool refuses.
const STRANGER: &str = "Mallory";
const SIMULATED: &str = "Radia";

pub async fn test_branch(environment: &Environment) -> anyhow::Result<StepResult<()>> {
    let request = TestTool {
        inputs: vec![build_input(&json!({"name": "Ada"}), InvocationMode::Regular)],
        commit_branch: branch().parse()?,
        project_path: project_path().parse()?,
        required_envvars: BTreeMap::new(),
        required_secret_envvars: BTreeMap::new(),
        gate: None,
    };
    let display = RunDisplay::start("building");
    let answer = environment.client()?.test_branch(&request, |event| display.show(event)).await?;
    drop(display);
    match answer.body.invocation_results.as_slice() {
        [InvocationResult { outcome: RunOutcome::Succeeded { output, .. }, .. }] => {
            Ok(StepResult::new((), output.clone()))
        }
        other => bail!("expected 1 successful run, got {other:?}"),
    }
}

pub async fn invoke_ten(environment: &Environment, tool_id: &str) -> anyhow::Result<StepResult<()>> {
    let inputs: Vec<Input> = GUESTS.into_iter().map(build_guest_input).collect();
    let display = RunDisplay::start("running");
    let mut status_events = 0_usize;
    let show = |event: &Event| {
        status_events += usize::from(matches!(event, Event::Status(_)));
        display.show(event);
    };
    let answer =
        environment.client()?.invoke(&InvokeRequest { tool_id, constraint: ">=1.0,<2", inputs: &inputs }, show).await?;
    drop(display);
    let results = answer.body.invocation_results;
    let failures: Vec<(usize, &InvocationResult)> =
        results.iter().enumerate().filter(|(_, result)| !result.outcome.is_success()).collect();
    ensure!(results.len() == GUESTS.len(), "expected {} results, got {}", GUESTS.len(), results.len());
    ensure!(status_events > 0, "no status event arrived");
    check_simulated(&results)?;
    match failures.as_slice() {
        [(index, InvocationResult { outcome: RunOutcome::Failed { exception_type, exception_message, .. }, .. })]
            if GUESTS[*index] == STRANGER =>
        {
            let result = format!(
                "9 answered (1 simulated), 1 failed as it should ({exception_type}: {exception_message}), {status_events} status events"
            );
            Ok(StepResult::new((), result))
        }
        other => bail!("expected one failed run, {STRANGER}'s, got {other:?}"),
    }
}

/// Checks that the last input ran in simulation mode and that the tool saw the mode.
fn check_simulated(results: &[InvocationResult]) -> anyhow::Result<()> {
    let Some(InvocationResult { outcome: RunOutcome::Succeeded { output, .. }, .. }) = results.last() else {
        bail!("the simulated run has no output");
    };
    let output: Value = serde_json::from_str(output)?;
    ensure!(output["delivered"] == false, "the simulated run did not see its mode: {output}");
    Ok(())
}

fn build_guest_input(name: &str) -> Input {
    let language = if name == "Frances" { "fr" } else { "en" };
    let mode = if name == SIMULATED { InvocationMode::ConversationSimulation } else { InvocationMode::Regular };
    build_input(&json!({"name": name, "language": language}), mode)
}

fn build_input(parameters: &Value, mode: InvocationMode) -> Input {
    Input {
        input_parameters: parameters.as_object().map(Into::into).unwrap_or_default(),
        invocation_mode: mode,
        nonsensitive_user_variables: BTreeMap::new(),
        sensitive_user_variables: BTreeMap::new(),
    }
}
