//! `lathe agent edit`: changes an agent.

use clap::{ArgGroup, Args};
use serde_json::{Map, Value, json};

use super::prompt;
use crate::client::Client;
use crate::failure::Outcome;
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
    /// File with the new system prompt of the draft; - for stdin
    #[arg(long, group = "change", value_name = "FILE")]
    prompt_file: Option<String>,
}

pub async fn run(client: &Client, arguments: EditArguments, screen: Screen) -> anyhow::Result<Outcome> {
    let EditArguments { agent, slug, name, description, scope, tool_exposure, families, prompt_file } = arguments;
    let is_of_draft = prompt_file.is_some() || tool_exposure.is_some() || families.is_some();
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
    changes.extend(families.map(|families| ("builtInTools".to_owned(), built_in_tools(&families))));
    let agent = client.find_agent(&agent).await?;
    client.modify_agent(&agent.id, &Value::Object(changes.clone())).await?;
    changes.insert("id".to_owned(), json!(agent.id));
    let deploy = format!("; `lathe agent deploy {}` makes the draft the running revision", agent.slug);
    let next = if is_of_draft { deploy.as_str() } else { "" };
    screen.answer(&changes, || format!("changed {}{next}", agent.slug))
}

/// The families as the API has them.
fn built_in_tools(families: &str) -> Value {
    match families {
        "all" => json!({"disabled": [], "allowedFamilies": null}),
        "none" => json!({"disabled": [], "allowedFamilies": []}),
        list => json!({"disabled": [], "allowedFamilies": list.split(',').map(str::trim).collect::<Vec<_>>()}),
    }
}
