//! `lathe prompt`: texts with variables. Prompts are not deleted.

use clap::{Args, Subcommand};
use serde::Serialize;
use serde_json::json;

use super::content::ContentArguments;
use super::family::{Family, ItemArguments, ListArguments, ScopeArguments, VersionedShowArguments, list_given_fields};
use crate::client::Client;
use crate::failure::Outcome;
use crate::output::Screen;

const PROMPTS: Family = Family {
    noun: "prompt",
    plural: "prompts",
    list_command: "`lathe prompt list`",
    path: "prompts",
    id: "prompt_id",
    key: Some("name"),
    columns: ["name", "type", "description"],
    content: "content",
};

#[derive(Debug, Subcommand)]
pub enum PromptCommand {
    /// Create a prompt
    Create(CreateArguments),
    /// List prompts, newest first
    List(PromptListArguments),
    /// Show a prompt with its text, as it is or in an earlier version
    Show(VersionedShowArguments),
    /// Make a new version of a prompt; what is not given stays as it is
    Edit(EditArguments),
}

#[derive(Debug, Args)]
pub struct CreateArguments {
    /// Name of the prompt
    name: String,
    #[command(flatten)]
    content: ContentArguments,
    #[command(flatten)]
    fields: PromptFields,
    #[command(flatten)]
    scope: ScopeArguments,
}

#[derive(Debug, Args)]
pub struct EditArguments {
    #[command(flatten)]
    item: ItemArguments,
    /// New name
    #[arg(long)]
    name: Option<String>,
    #[command(flatten)]
    content: ContentArguments,
    #[command(flatten)]
    fields: PromptFields,
}

#[derive(Debug, Args, Serialize)]
struct PromptFields {
    /// Type of the prompt
    #[arg(long = "type", value_parser = TYPES)]
    #[serde(rename = "type")]
    prompt_type: Option<String>,
    /// What the prompt is for
    #[arg(long, value_name = "TEXT")]
    description: Option<String>,
    /// Tag; repeatable. A change replaces all tags
    #[arg(long = "tag", value_name = "TAG")]
    tags: Vec<String>,
}

#[derive(Debug, Args)]
pub struct PromptListArguments {
    #[command(flatten)]
    list: ListArguments,
    /// Only prompts of this type
    #[arg(long = "type", value_name = "TYPE", value_parser = TYPES)]
    prompt_type: Option<String>,
}

const TYPES: [&str; 4] = ["system-prompt", "user-prompt", "skill", "template"];

pub async fn run(command: PromptCommand, client: &Client, screen: Screen) -> anyhow::Result<Outcome> {
    match command {
        PromptCommand::Create(CreateArguments { name, content, fields: given, scope }) => {
            let mut fields = list_given_fields(&given)?;
            fields.insert("name".to_owned(), json!(name));
            fields.insert("content".to_owned(), json!(content.require()?));
            let created = PROMPTS.items(client, &scope).create(fields).await?;
            PROMPTS.confirm("created", &created, screen)
        }
        PromptCommand::List(PromptListArguments { list, prompt_type }) => {
            let mut filter = list.build_filter();
            filter.extend(prompt_type.map(|prompt_type| ("type", prompt_type)));
            PROMPTS.list(client, &list.amount, &filter, screen).await
        }
        PromptCommand::Show(arguments) => PROMPTS.show_version(client, &arguments, screen).await,
        PromptCommand::Edit(EditArguments { item, name, content, fields: given }) => {
            let mut fields = list_given_fields(&given)?;
            fields.extend(name.map(|name| ("name".to_owned(), json!(name))));
            fields.extend(content.read()?.map(|content| ("content".to_owned(), json!(content))));
            PROMPTS.edit(client, &item, fields, screen).await
        }
    }
}
