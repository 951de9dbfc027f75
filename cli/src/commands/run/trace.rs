//! `lathe run trace`: the steps of a run.

use api::wire::AgentRunStep;
use clap::Args;
use jiff::Timestamp;
use serde_json::{Value, json};

use super::missing::name_missing;
use crate::client::{Client, StepFilter, read_all};
use crate::commands::times::parse_past;
use crate::failure::Outcome;
use crate::output::{Screen, clip, escape_hidden};

#[derive(Debug, Args)]
pub struct TraceArguments {
    /// The run's id
    run: String,
    /// Only steps that recorded this milestone
    #[arg(long, value_name = "NAME")]
    milestone: Option<String>,
    /// Only steps since this time: a duration such as 2h, a date, or a time
    #[arg(long, value_name = "TIME", value_parser = parse_past)]
    since: Option<Timestamp>,
    /// Only steps until this time
    #[arg(long, value_name = "TIME", value_parser = parse_past)]
    until: Option<Timestamp>,
}

pub async fn run(client: &Client, arguments: &TraceArguments, screen: Screen) -> anyhow::Result<Outcome> {
    let TraceArguments { run, milestone, since, until } = arguments;
    let text = |time: &Option<Timestamp>| time.as_ref().map(ToString::to_string);
    let filter = StepFilter { milestone: milestone.clone(), since: text(since), until: text(until) };
    let documents = name_missing(client.list_agent_run_steps(run, &filter).await, run)?;
    if screen.is_json() {
        return screen.print_document(&json!({ "trace": documents }));
    }
    if documents.is_empty() {
        screen.note("no steps");
        return Ok(Outcome::Done);
    }
    for step in read_all::<AgentRunStep>(&documents)? {
        screen.print_line(escape_hidden(&render_step(&step, usize::MAX)))?;
    }
    Ok(Outcome::Done)
}

/// Returns the thought, the call and the observation of a step, each on lines of its own.
pub fn render_step(step: &AgentRunStep, characters_max: usize) -> String {
    let AgentRunStep { number, fields, .. } = step;
    let text = |name| fields.get(name).map(render_value).unwrap_or_default();
    let action = text("action");
    let call = if action.is_empty() { action } else { format!("{action} {}", text("action_input")) };
    let outcome = if fields.get("success") == Some(&Value::Bool(false)) { "failed: " } else { "" };
    let observation = Some(text("observation")).filter(|text| !text.is_empty());
    let texts = [Some(text("thought")), Some(call), observation.map(|text| format!("{outcome}{text}"))];
    let given = texts.into_iter().flatten().filter(|text| !text.trim().is_empty());
    let shown: Vec<String> =
        given.map(|text| clip(text.trim_end(), characters_max).replace('\n', "\n      ")).collect();
    format!("{number:>4}  {}", shown.join("\n      "))
}

fn render_value(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_has_its_thought_its_call_and_its_observation() {
        let step = |document: Value| serde_json::from_value::<AgentRunStep>(document).expect("a step");
        let called = step(json!({
            "number": 3, "timestamp": "x", "thought": "I look.", "action": "find", "action_input": {"a": 1},
            "observation": "two\nlines", "success": false,
        }));
        let expected = "   3  I look.\n      find {\"a\":1}\n      failed: two\n      lines";
        assert_eq!(render_step(&called, usize::MAX), expected);
        let short = step(json!({"number": 4, "timestamp": "x", "action": "__pause_for_human__", "observation": null}));
        assert_eq!(render_step(&short, 9), "   4  __pause_…");
    }
}
