//! `lathe tool invoke`

use anyhow::Context;
use clap::Args;

use crate::client::Client;
use crate::commands::input::InputArguments;
use crate::failure::Outcome;
use crate::output::{RunDisplay, Screen, is_all_succeeded, show_results};

/// Admits every version.
const ANY_VERSION: &str = ">=0";

#[derive(Debug, Args)]
pub struct InvokeArguments {
    /// The tool's name or id, with a version or constraint if wanted: weather, weather@1.2.0, 'weather@>=1.2,<2'
    #[arg(value_name = "TOOL[@CONSTRAINT]")]
    tool: String,
    #[command(flatten)]
    input: InputArguments,
}

pub async fn run(client: &Client, arguments: &InvokeArguments, screen: Screen) -> anyhow::Result<Outcome> {
    let (tool, constraint) = read_subject(&arguments.tool);
    let inputs = arguments.input.read()?;
    let tool = client.find_tool(tool).await?;
    let display = RunDisplay::start(&format!("running {}", tool.name));
    let answer = client.invoke(&tool.id, constraint, &inputs, |event| display.show(event)).await;
    let answer = answer.with_context(|| format!("running {}", arguments.tool))?;
    drop(display);
    if screen.is_json() {
        screen.document(&answer.document)?;
    } else {
        show_results(screen, &answer.body.invocation_results)?;
    }
    Ok(if is_all_succeeded(&answer.body.invocation_results) { Outcome::Done } else { Outcome::Failed })
}

fn read_subject(text: &str) -> (&str, &str) {
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
        assert_eq!(read_subject("weather"), ("weather", ANY_VERSION));
        assert_eq!(read_subject("weather@"), ("weather", ANY_VERSION));
        assert_eq!(read_subject("weather@>=1.2,<2"), ("weather", ">=1.2,<2"));
    }
}
