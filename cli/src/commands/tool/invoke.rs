//! `lathe tool invoke`: runs a published version.

use anyhow::Context;
use clap::Args;

use crate::client::{Client, InvokeRequest};
use crate::commands::input::InputArguments;
use crate::failure::Outcome;
use crate::output::{RunDisplay, Screen, is_all_succeeded, show_results};

/// The constraint that every version matches.
const ANY_VERSION: &str = ">=0";

#[derive(Debug, Args)]
pub struct InvokeArguments {
    /// The tool's name or id, optionally with a version constraint: weather, weather@1.2.0, 'weather@>=1.2,<2'
    #[arg(value_name = "TOOL[@CONSTRAINT]")]
    tool: String,
    #[command(flatten)]
    input: InputArguments,
}

pub async fn run(client: &Client, arguments: &InvokeArguments, screen: Screen) -> anyhow::Result<Outcome> {
    let (tool, constraint) = tool_and_constraint(&arguments.tool);
    let inputs = arguments.input.read()?;
    let tool = client.find_tool(tool).await?;
    let display = RunDisplay::start(&format!("running {}", tool.name));
    let request = InvokeRequest { tool_id: &tool.id, constraint, inputs: &inputs };
    let answer = client.invoke(&request, |event| display.show(event)).await;
    let answer = answer.with_context(|| format!("running {}", arguments.tool))?;
    drop(display);
    if screen.is_json() {
        screen.document(&answer.document)?;
    } else {
        show_results(screen, &answer.body.invocation_results)?;
    }
    Ok(if is_all_succeeded(&answer.body.invocation_results) { Outcome::Done } else { Outcome::Failed })
}

fn tool_and_constraint(text: &str) -> (&str, &str) {
    match text.split_once('@') {
        Some((tool, constraint)) if !constraint.trim().is_empty() => (tool, constraint.trim()),
        Some((tool, _)) => (tool, ANY_VERSION),
        None => (text, ANY_VERSION),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_with_and_without_a_constraint() {
        assert_eq!(tool_and_constraint("weather"), ("weather", ANY_VERSION));
        assert_eq!(tool_and_constraint("weather@"), ("weather", ANY_VERSION));
        assert_eq!(tool_and_constraint("weather@>=1.2,<2"), ("weather", ">=1.2,<2"));
    }
}
