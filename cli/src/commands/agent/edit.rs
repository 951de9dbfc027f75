//! `lathe agent edit`: changes an agent.

use agents::{BuiltInTools, FamilyName};
use clap::{ArgGroup, Args};
use serde_json::{Map, Value, json};

use super::{intervention, prompt};
use crate::client::Client;
use crate::failure::{Failure, Outcome};
use crate::output::Screen;

#[derive(Debug, Args)]
#[command(group(ArgGroup::new("change").required(true).multiple(true)))]
pub struct EditArguments {
    /// The agent's slug or id
    agent: String,
    /// New slug
    #[arg(long, group = "change")]
    slug: Option<String>,
    /// New name for people
    #[arg(long, group = "change")]
    name: Option<String>,
    /// New description
    #[arg(long, group = "change")]
    description: Option<String>,
    /// Users who see the agent from now on
    #[arg(long, group = "change", value_parser = ["personal", "organization"])]
    scope: Option<String>,
    /// Tools that the model sees in the draft: all of them, or a search for tools
    #[arg(long, group = "change", value_parser = ["full", "search"])]
    tool_exposure: Option<String>,
    /// Families of the Library that the draft has: all, none, or a list such as memory,prompts
    #[arg(long, group = "change", value_name = "FAMILIES")]
    families: Option<String>,
    /// Whether a person confirms the calls of a tool of the server in the draft: never, required or always; for several tools
    #[arg(long, group = "change", value_name = "TOOL=POLICY", value_parser = intervention::parse_tool_policy)]
    human_intervention: Vec<intervention::ToolPolicy>,
    /// File with the new system prompt of the draft; - for stdin
    #[arg(long, group = "change", value_name = "FILE")]
    prompt_file: Option<String>,
}

pub async fn run(client: &Client, arguments: EditArguments, screen: Screen) -> anyhow::Result<Outcome> {
    let EditArguments { slug, name, description, scope, tool_exposure, families, prompt_file, .. } = arguments;
    let (agent, policies) = (client.find_agent(&arguments.agent).await?, arguments.human_intervention);
    let changes_tools = families.is_some() || !policies.is_empty();
    let is_of_draft = prompt_file.is_some() || tool_exposure.is_some() || changes_tools;
    let texts = [
        ("slug", slug),
        ("name", name),
        ("description", description),
        ("scope", scope),
        ("tool_exposure", tool_exposure),
    ];
    let given = texts.into_iter().filter_map(|(field, text)| Some((field.to_owned(), json!(text?))));
    let mut changes: Map<String, Value> = given.collect();
    if let Some(file) = &prompt_file {
        changes.insert("system_prompt".to_owned(), json!(prompt::read(file)?.as_str()));
    }
    if changes_tools {
        let present = client.show_agent(agent.id.as_str()).await?.body.draft.built_in_tools;
        changes
            .insert("builtInTools".to_owned(), json!(change_built_in_tools(present, families.as_deref(), policies)?));
    }
    client.modify_agent(agent.id.as_str(), &Value::Object(changes.clone())).await?;
    changes.insert("id".to_owned(), json!(agent.id));
    let deploy = format!("; `lathe agent deploy {}` makes the draft the running revision", agent.slug);
    let next = if is_of_draft { deploy.as_str() } else { "" };
    screen.answer(&changes, || format!("changed {}{next}", agent.slug))
}

/// The present setting with other families, and with the policies of some tools.
fn change_built_in_tools(
    mut tools: BuiltInTools,
    families: Option<&str>,
    policies: Vec<intervention::ToolPolicy>,
) -> anyhow::Result<BuiltInTools> {
    if let Some(families) = families {
        tools.disabled = Vec::new();
        tools.allowed_families = match families {
            "all" => None,
            "none" => Some(Vec::new()),
            list => Some(list.split(',').map(parse_family).collect::<anyhow::Result<_>>()?),
        };
    }
    tools.human_intervention.extend(policies);
    tools.human_intervention.retain(|_, policy| !policy.is_never());
    Ok(tools)
}

fn parse_family(name: &str) -> anyhow::Result<FamilyName> {
    let wrong = |error| Failure::usage(format!("`{name}`: {error}"), "name families such as memory,tasks, all or none");
    FamilyName::parse(name.trim()).map_err(wrong)
}
