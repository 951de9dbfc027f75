//! `lathe memory`: facts, observations and decisions.

use clap::{Args, Subcommand};
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::content::ContentArguments;
use super::family::{
    AmountArguments, Family, ItemArguments, ListArguments, ScopeArguments, ShowArguments, list_given_fields,
};
use crate::client::Client;
use crate::failure::Outcome;
use crate::output::Screen;

const MEMORIES: Family = Family {
    noun: "memory",
    plural: "memories",
    list_command: "`lathe memory list`",
    path: "memory",
    id: "memory_id",
    key: None,
    columns: ["kind", "tags", "content"],
    content: "content",
};

#[derive(Debug, Subcommand)]
pub enum MemoryCommand {
    /// Create a memory
    Create(CreateArguments),
    /// List memories, newest first
    List(MemoryListArguments),
    /// Search memories by words and by meaning, the best first
    Search(SearchArguments),
    /// Show a memory
    Show(ShowArguments),
    /// Change a memory; what is not given stays as it is
    Edit(EditArguments),
    /// Delete a memory
    Delete(ItemArguments),
}

#[derive(Debug, Args)]
pub struct CreateArguments {
    /// The content, in words that are understood without the conversation
    #[arg(value_name = "TEXT", conflicts_with_all = ["content", "file"])]
    text: Option<String>,
    #[command(flatten)]
    content: ContentArguments,
    #[command(flatten)]
    fields: MemoryFields,
    #[command(flatten)]
    scope: ScopeArguments,
}

#[derive(Debug, Args)]
pub struct EditArguments {
    #[command(flatten)]
    item: ItemArguments,
    #[command(flatten)]
    content: ContentArguments,
    #[command(flatten)]
    fields: MemoryFields,
}

#[derive(Debug, Args, Serialize)]
struct MemoryFields {
    /// Kind, such as fact, observation or decision
    #[arg(long)]
    kind: Option<String>,
    /// Summary
    #[arg(long, value_name = "TEXT")]
    summary: Option<String>,
    /// Tag; repeatable. A change replaces all tags
    #[arg(long = "tag", value_name = "TAG")]
    tags: Vec<String>,
    /// Category
    #[arg(long)]
    category: Option<String>,
    /// Importance from 0 to 1
    #[arg(long, value_name = "NUMBER")]
    importance: Option<f64>,
}

#[derive(Debug, Args)]
pub struct MemoryListArguments {
    #[command(flatten)]
    list: ListArguments,
    /// Only memories of this kind
    #[arg(long)]
    kind: Option<String>,
}

#[derive(Debug, Args)]
pub struct SearchArguments {
    /// Words or a question
    query: String,
    #[command(flatten)]
    amount: AmountArguments,
}

/// Maximum results of a search, from the API.
const RESULTS_MAX: u32 = 50;

pub async fn run(command: MemoryCommand, client: &Client, screen: Screen) -> anyhow::Result<Outcome> {
    match command {
        MemoryCommand::Create(arguments) => create(client, &arguments, screen).await,
        MemoryCommand::List(MemoryListArguments { list, kind }) => {
            let mut filter = list.build_filter();
            filter.extend(kind.map(|kind| ("kind", kind)));
            MEMORIES.list(client, &list.amount, &filter, screen).await
        }
        MemoryCommand::Search(arguments) => search(client, &arguments, screen).await,
        MemoryCommand::Show(arguments) => MEMORIES.show(client, &arguments, screen).await,
        MemoryCommand::Edit(EditArguments { item, content, fields: given }) => {
            let mut fields = list_given_fields(&given)?;
            fields.extend(content.read()?.map(|content| ("content".to_owned(), json!(content))));
            MEMORIES.edit(client, &item, fields, screen).await
        }
        MemoryCommand::Delete(arguments) => MEMORIES.delete(client, &arguments, screen).await,
    }
}

async fn create(client: &Client, arguments: &CreateArguments, screen: Screen) -> anyhow::Result<Outcome> {
    let content = match arguments.text.as_deref() {
        Some("-") | None => arguments.content.require_or_stdin(arguments.text.is_some())?,
        Some(text) => text.to_owned(),
    };
    let mut fields = list_given_fields(&arguments.fields)?;
    fields.insert("content".to_owned(), json!(content));
    let created = MEMORIES.items(client, &arguments.scope).create(fields).await?;
    MEMORIES.confirm("created", &created, screen)
}

async fn search(client: &Client, arguments: &SearchArguments, screen: Screen) -> anyhow::Result<Outcome> {
    let SearchArguments { query, amount } = arguments;
    let limit = amount.limit().min(RESULTS_MAX);
    let request = Map::from_iter([("query".to_owned(), json!(query)), ("limit".to_owned(), json!(limit))]);
    let found = MEMORIES.items(client, amount.scope()).search(request).await?;
    if screen.is_json() {
        return screen.print_document(&found);
    }
    MEMORIES.show_table(found["items"].as_array().map(Vec::as_slice).unwrap_or_default(), screen)?;
    if found["semantic"] == Value::Null {
        screen.note("searched by words alone: nothing compared meanings");
    }
    Ok(Outcome::Done)
}
