//! `lathe tool invoke`: runs a published version.

use std::str::FromStr;

use clap::Args;

use crate::client::{Client, InvokeRequest};
use crate::commands::constraint::Constraint;
use crate::commands::input::InputArguments;
use crate::commands::{completion, not_found};
use crate::failure::Outcome;
use crate::output::{RunDisplay, Screen, is_all_succeeded, show_results};

#[derive(Debug, Args)]
pub struct InvokeArguments {
    /// The tool's name or id, optionally with a constraint for the newest live version that matches: weather,
    /// weather@1.2.0, weather@1.2, weather@1, weather@^1.2, 'weather@>=1.2,<2'
    #[arg(value_name = "TOOL[@CONSTRAINT]", add = completion::tools())]
    tool: ToolAtConstraint,
    #[command(flatten)]
    input: InputArguments,
}

pub async fn run(client: &Client, arguments: &InvokeArguments, screen: Screen) -> anyhow::Result<Outcome> {
    let ToolAtConstraint { tool, constraint } = &arguments.tool;
    let inputs = arguments.input.read()?;
    let tool = client.find_tool(tool).await?;
    let display = RunDisplay::start(&format!("running {}", tool.name));
    let request = InvokeRequest { tool_id: &tool.id, constraint: constraint.as_str(), inputs: &inputs };
    let answer = client.invoke(&request, |event| display.show(event)).await;
    let what = format!("live version of {} that matches {constraint}", tool.name);
    let hint = format!("`lathe tool versions {}` lists its versions", tool.name);
    let answer = not_found::named(answer, &what, &hint)?;
    drop(display);
    if screen.is_json() {
        screen.document(&answer.document)?;
    } else {
        show_results(screen, &answer.body.invocation_results)?;
    }
    Ok(if is_all_succeeded(&answer.body.invocation_results) { Outcome::Done } else { Outcome::Failed })
}

/// A tool and the versions of it that may run.
#[derive(Clone, Debug, PartialEq, Eq)]
struct ToolAtConstraint {
    tool: String,
    constraint: Constraint,
}

impl FromStr for ToolAtConstraint {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (tool, constraint) = text.split_once('@').unwrap_or((text, ""));
        let constraint = if constraint.trim().is_empty() { Constraint::any() } else { constraint.parse()? };
        Ok(Self { tool: tool.to_owned(), constraint })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_with_and_without_a_constraint() {
        let read = |text: &str| {
            let ToolAtConstraint { tool, constraint } = text.parse().expect("a tool");
            assert_eq!(tool, "weather");
            constraint.to_string()
        };
        assert_eq!(read("weather"), ">=0");
        assert_eq!(read("weather@"), ">=0");
        assert_eq!(read("weather@>=1.2,<2"), ">=1.2,<2");
        assert_eq!(read("weather@1"), "==1.*");
        assert!("weather@^".parse::<ToolAtConstraint>().is_err());
    }
}
