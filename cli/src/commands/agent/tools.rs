//! `lathe agent tools`: the tools of the running revision, or of the draft.

use clap::Args;
use serde_json::{Value, json};

use crate::client::Client;
use crate::commands::not_found;
use crate::failure::Outcome;
use crate::output::{Screen, render_table};

#[derive(Debug, Args)]
pub struct ToolsArguments {
    /// The agent's slug or id
    agent: String,
    /// Print the definitions for a model API or a framework, as JSON
    #[arg(long, value_parser = ["mcp", "openai", "openai-responses", "anthropic", "gemini", "lobe"])]
    format: Option<String>,
    /// List the assignments of the draft instead
    #[arg(long, conflicts_with = "format")]
    draft: bool,
}

pub async fn run(client: &Client, arguments: &ToolsArguments, screen: Screen) -> anyhow::Result<Outcome> {
    let agent = client.find_agent(&arguments.agent).await?;
    if arguments.draft {
        return list_draft(client, agent.id.as_str(), screen).await;
    }
    let tools = client.list_agent_tools(agent.id.as_str(), arguments.format.as_deref()).await;
    let hint = format!("`lathe agent deploy {}` deploys the draft, --draft lists it", agent.slug);
    let tools = not_found::name_missing(tools, &format!("deployed revision of {}", agent.slug), &hint)?;
    if screen.is_json() || arguments.format.is_some() {
        return screen.print_document(&json!({ "tools": tools }));
    }
    if tools.is_empty() {
        screen.note(format!("no tools; `lathe agent assign {} TOOL` assigns one in the draft", agent.slug));
        return Ok(Outcome::Done);
    }
    let text = |tool: &Value, field: &str| tool[field].as_str().unwrap_or_default().to_owned();
    screen.print_line(render_table(
        ["name", "description"],
        tools.iter().map(|tool| ["name", "description"].map(|f| text(tool, f))),
    ))?;
    Ok(Outcome::Done)
}

async fn list_draft(client: &Client, agent: &str, screen: Screen) -> anyhow::Result<Outcome> {
    let answer = client.list_assignments(agent).await?;
    if screen.is_json() {
        return screen.print_document(&answer.document);
    }
    let assignments = answer.body.assignments;
    if assignments.is_empty() {
        screen.note("no tools in the draft; `lathe agent assign AGENT TOOL` assigns one");
        return Ok(Outcome::Done);
    }
    let names = client.find_tool_names(assignments.iter().map(|assignment| assignment.tool_id.as_str())).await?;
    let row = |assignment: api::wire::Assignment| {
        let name = names.get(assignment.tool_id.as_str()).cloned().unwrap_or_else(|| assignment.tool_id.to_string());
        [name, assignment.tool_id.into(), assignment.version_constraint, assignment.additional_instruction]
    };
    screen.print_line(render_table(["tool", "id", "versions", "instruction"], assignments.into_iter().map(row)))?;
    Ok(Outcome::Done)
}
