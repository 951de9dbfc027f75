//! `lathe skill`: instructions in Markdown that are used again.

use clap::{Args, Subcommand};
use serde::Serialize;
use serde_json::json;

use super::content::ContentArguments;
use super::family::{Family, ItemArguments, ListArguments, ScopeArguments, VersionedShowArguments, list_given_fields};
use crate::client::Client;
use crate::failure::Outcome;
use crate::output::Screen;

const SKILLS: Family = Family {
    noun: "skill",
    plural: "skills",
    list_command: "`lathe skill list`",
    path: "skills",
    id: "skill_id",
    key: Some("name"),
    columns: ["name", "tags", "description"],
    content: "content",
};

#[derive(Debug, Subcommand)]
pub enum SkillCommand {
    /// Create a skill
    Create(CreateArguments),
    /// List skills, newest first
    List(ListArguments),
    /// Show a skill with its instructions, as it is or in an earlier version
    Show(VersionedShowArguments),
    /// Make a new version of a skill; what is not given stays as it is
    Edit(EditArguments),
    /// Delete a skill with its versions
    Delete(ItemArguments),
}

#[derive(Debug, Args)]
pub struct CreateArguments {
    /// Name of the skill: lower-case letters, digits and -
    name: String,
    #[command(flatten)]
    content: ContentArguments,
    #[command(flatten)]
    fields: SkillFields,
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
    fields: SkillFields,
}

#[derive(Debug, Args, Serialize)]
struct SkillFields {
    /// When to use the skill, and for what
    #[arg(long, value_name = "TEXT")]
    description: Option<String>,
    /// Tag; repeatable. A change replaces all tags
    #[arg(long = "tag", value_name = "TAG")]
    tags: Vec<String>,
    /// Tool that the skill needs; repeatable. A change replaces all tools
    #[arg(long = "tool", value_name = "NAME")]
    #[serde(rename = "mcp_tools")]
    tools: Vec<String>,
}

pub async fn run(command: SkillCommand, client: &Client, screen: Screen) -> anyhow::Result<Outcome> {
    match command {
        SkillCommand::Create(CreateArguments { name, content, fields: given, scope }) => {
            let mut fields = list_given_fields(&given)?;
            fields.insert("name".to_owned(), json!(name));
            fields.insert("content".to_owned(), json!(content.require()?));
            let created = SKILLS.items(client, &scope).create(fields).await?;
            SKILLS.confirm("created", &created, screen)
        }
        SkillCommand::List(arguments) => {
            SKILLS.list(client, &arguments.amount, &arguments.build_filter(), screen).await
        }
        SkillCommand::Show(arguments) => SKILLS.show_version(client, &arguments, screen).await,
        SkillCommand::Edit(EditArguments { item, name, content, fields: given }) => {
            let mut fields = list_given_fields(&given)?;
            fields.extend(name.map(|name| ("name".to_owned(), json!(name))));
            fields.extend(content.read()?.map(|content| ("content".to_owned(), json!(content))));
            SKILLS.edit(client, &item, fields, screen).await
        }
        SkillCommand::Delete(arguments) => SKILLS.delete(client, &arguments, screen).await,
    }
}
