//! `lathe agent assign`: assigns a tool in the draft of an agent.

use api::wire::Assignment;
use clap::Args;
use registry::{Digest, HumanIntervention, ToolId};
use serde_json::json;

use super::intervention;
use crate::client::Client;
use crate::commands::completion;
use crate::commands::constraint::Constraint;
use crate::failure::Outcome;
use crate::output::Screen;

#[derive(Debug, Args)]
pub struct AssignArguments {
    /// The agent's slug or id
    agent: String,
    /// The tool's name or id
    #[arg(add = completion::complete_tools())]
    tool: String,
    /// Versions that the agent may call, such as ^1.2 or >=1.2,<2; the newest live one counts [default: all]
    version: Option<Constraint>,
    /// Instruction to the model, besides the tool's description
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    instruction: String,
    /// Sentence that a voice speaks while the tool runs; up to ten times
    #[arg(long = "audio-filler", value_name = "TEXT")]
    audio_fillers: Vec<String>,
    /// Seconds that the tool runs before the first audio filler
    #[arg(long, value_name = "SECONDS", default_value_t = 2.0)]
    audio_filler_after: f64,
    /// How long the agent remembers results
    #[arg(
        long,
        value_name = "MODE",
        default_value = "persisted-preferred",
        value_parser = ["ephemeral", "persisted-preferred", "persisted"]
    )]
    result_persistence: String,
    /// Component digest that the version must have; a deployment refuses any other
    #[arg(long, value_name = "sha256:DIGITS")]
    component_digest: Option<Digest>,
    /// Whether a person confirms the calls of the tool, besides what its version declares: never, required or always, or a JSON object [default: that of the present assignment]
    #[arg(long, value_name = "POLICY", value_parser = intervention::parse)]
    human_intervention: Option<HumanIntervention>,
}

pub async fn run(client: &Client, arguments: AssignArguments, screen: Screen) -> anyhow::Result<Outcome> {
    let agent = client.find_agent(&arguments.agent).await?;
    let tool = client.find_tool(&arguments.tool).await?;
    let human_intervention = match arguments.human_intervention {
        Some(asked) => asked,
        None => read_present(client, agent.id.as_str(), &tool.id).await?,
    };
    let assignment = Assignment {
        tool_id: ToolId::parse(&tool.id)?,
        version_constraint: arguments.version.unwrap_or_else(Constraint::any).as_str().to_owned(),
        additional_instruction: arguments.instruction,
        audio_fillers: arguments.audio_fillers,
        audio_filler_triggered_after: arguments.audio_filler_after,
        result_persistence: arguments.result_persistence,
        component_digest: arguments.component_digest.map(String::from),
        human_intervention,
    };
    client.assign_tool(agent.id.as_str(), &assignment).await?;
    screen.answer(&json!({"agent_id": agent.id, "assignment": assignment}), || {
        let (agent, tool) = (&agent.slug, &tool.name);
        format!("assigned {tool} in the draft of {agent}\n\nTo make the draft run:\n  lathe agent deploy {agent}")
    })
}

/// The confirmation that the present assignment of the tool asks for. Another version of the tool does not end it.
async fn read_present(client: &Client, agent: &str, tool: &str) -> anyhow::Result<HumanIntervention> {
    let assignments = client.show_agent(agent).await?.body.draft.assignments;
    let found = assignments.into_iter().find(|assignment| assignment.tool_id.as_str() == tool);
    Ok(found.map(|assignment| assignment.human_intervention).unwrap_or_default())
}
