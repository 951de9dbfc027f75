//! `lathe conversation list` and `show`: the conversations of the caller, and their turns.

use api::wire::Conversation;
use clap::Args;
use serde_json::json;

use super::turn;
use crate::client::{Client, read_all};
use crate::commands::not_found;
use crate::failure::Outcome;
use crate::output::{Screen, cut_to_second, escape_hidden, render_table};

/// A cell without a value.
const EMPTY: &str = "-";

#[derive(Debug, Args)]
pub struct ListArguments {
    /// The agent's slug or id
    agent: String,
    /// Maximum number of conversations
    #[arg(long, default_value_t = 50, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..))]
    limit: u32,
}

#[derive(Debug, Args)]
pub struct ShowArguments {
    /// The conversation's id
    conversation: String,
    /// Show this turn with the tools that it presented
    turn: Option<String>,
}

pub async fn run(client: &Client, arguments: &ListArguments, screen: Screen) -> anyhow::Result<Outcome> {
    let agent = client.find_agent(&arguments.agent).await?;
    let limit = usize::try_from(arguments.limit)?;
    let (documents, has_more) = client.list_conversations(agent.id.as_str(), limit).await?;
    if screen.is_json() {
        return screen.print_document(&json!({"conversations": documents, "has_more": has_more}));
    }
    if documents.is_empty() {
        screen.note(format!("no conversations; `lathe conversation start {}` starts one", agent.slug));
        return Ok(Outcome::Done);
    }
    let rows = read_all(&documents)?.into_iter().map(build_row);
    screen.print_line(render_table(["id", "started", "ended", "mode"], rows))?;
    if has_more {
        screen.note("there are more conversations; raise --limit");
    }
    Ok(Outcome::Done)
}

fn build_row(Conversation { id, started_at, ended_at, mode, .. }: Conversation) -> [String; 4] {
    let ended = ended_at.map_or_else(|| EMPTY.to_owned(), |time| cut_to_second(&time));
    [id.into(), cut_to_second(&started_at), ended, mode]
}

pub async fn show(client: &Client, arguments: &ShowArguments, screen: Screen) -> anyhow::Result<Outcome> {
    let id = &arguments.conversation;
    if let Some(number) = &arguments.turn {
        let hint = format!("`lathe conversation turn {id}` begins one");
        let shown = client.show_turn(id, number).await;
        let shown = not_found::name_missing(shown, &format!("turn `{number}` of this conversation"), &hint)?;
        return screen.answer(&shown.document, || turn::render_turn(&shown.body));
    }
    let hint = "`lathe conversation list AGENT` lists yours";
    let shown = not_found::name_missing(client.show_conversation(id).await, &format!("conversation `{id}`"), hint)?;
    screen.answer(&shown.document, || render_conversation(&shown.body))
}

fn render_conversation(conversation: &Conversation) -> String {
    let Conversation { id, agent_id, user_id, mode, started_at, ended_at, .. } = conversation;
    let ended = ended_at.as_deref().map_or_else(|| EMPTY.to_owned(), cut_to_second);
    escape_hidden(&format!(
        "conversation  {id}\nagent         {agent_id}\nuser          {user_id}\nmode          {mode}\n\
         started       {}\nended         {ended}",
        cut_to_second(started_at)
    ))
}
