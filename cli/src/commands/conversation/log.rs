//! `lathe conversation log` and `end`: the calls whose results later interactions see, and the end of a conversation.

use api::wire::ToolInvocation;
use clap::Args;
use serde_json::json;

use crate::client::{Client, read_all};
use crate::commands::not_found;
use crate::failure::Outcome;
use crate::output::{Screen, cut_to_second, render_table};

#[derive(Debug, Args)]
pub struct LogArguments {
    /// The conversation's id
    conversation: String,
    /// The interaction that reads the log; it sees all of its own calls, too
    #[arg(long, value_name = "ID")]
    interaction: Option<String>,
}

#[derive(Debug, Args)]
pub struct EndArguments {
    /// The conversation's id
    conversation: String,
}

pub async fn run(client: &Client, arguments: &LogArguments, screen: Screen) -> anyhow::Result<Outcome> {
    let LogArguments { conversation, interaction } = arguments;
    let documents = client.read_conversation_log(conversation, interaction.as_deref()).await;
    let documents = not_found::name_missing(documents, &format!("conversation `{conversation}`"), HINT)?;
    if screen.is_json() {
        return screen.print_document(&json!({ "tool_invocations": documents }));
    }
    if documents.is_empty() {
        screen.note("no calls whose results later interactions see");
        return Ok(Outcome::Done);
    }
    let row = |run: ToolInvocation| {
        let tool = run.native_tool.clone().unwrap_or_else(|| run.tool_id.clone());
        [cut_to_second(&run.created_at), run.id, tool]
    };
    screen.print_line(render_table(["time", "call", "tool"], read_all(&documents)?.into_iter().map(row)))?;
    Ok(Outcome::Done)
}

pub async fn end(client: &Client, arguments: &EndArguments, screen: Screen) -> anyhow::Result<Outcome> {
    let id = &arguments.conversation;
    not_found::name_missing(client.end_conversation(id).await, &format!("conversation `{id}`"), HINT)?;
    screen.answer(&json!({ "id": id }), || format!("ended {id}"))
}

const HINT: &str = "`lathe conversation list AGENT` lists yours";
