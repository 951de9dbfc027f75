//! `lathe node`: the servers of a database, for their operator. Servers serve many organisations, so that no organisation's key shows
//! them: the command reads the database, like `lathe gc`.

use clap::{Args, Subcommand};
use registry::{Node, NodeDescription};
use serde_json::{Value, json};

use crate::failure::Outcome;
use crate::output::{Screen, cut_to_second, render_table};
use crate::server::{self, DataArguments};

/// A cell without a value.
const EMPTY: &str = "-";

#[derive(Debug, Subcommand)]
pub enum NodeCommand {
    /// List the servers of a database with their addresses, versions, heartbeats, and what they have in progress
    List(ListArguments),
}

#[derive(Debug, Args)]
pub struct ListArguments {
    #[command(flatten)]
    data: DataArguments,
}

pub async fn run(command: NodeCommand, screen: Screen) -> anyhow::Result<Outcome> {
    let NodeCommand::List(ListArguments { data }) = command;
    let location = data.find_location()?;
    let store = server::open_existing_store(&location).await?;
    location.announce(screen);
    let (nodes, is_shared) = (store.nodes().list().await?, store.is_shared());
    store.close().await;
    if screen.is_json() {
        let documents: Vec<_> = nodes.iter().map(|node| build_document(node, is_shared)).collect();
        return screen.print_document(&json!({ "nodes": documents }));
    }
    if nodes.is_empty() {
        screen.note("no servers; `lathe serve` starts one");
        return Ok(Outcome::Done);
    }
    if !is_shared {
        screen.note(
            "a server with SQLite is alone on its data directory and sends no heartbeats; this is its last start",
        );
    }
    let header = ["node", "name", "address", "version", "started", "heartbeat", "leases", "builds", "runs"];
    screen.print_line(render_table(header, nodes.iter().map(|node| build_row(node, is_shared))))?;
    Ok(Outcome::Done)
}

/// Scripts rely on the keys.
fn build_document(node: &Node, is_shared: bool) -> Value {
    let Node { boot, description: NodeDescription { name, address, version }, .. } = node;
    json!({
        "node": boot.to_string(),
        "name": name,
        "address": address,
        "version": version,
        "started_at": node.started_at.to_string(),
        "heartbeat_ms": is_shared.then_some(node.seen.as_millis()),
        "state": find_state(node, is_shared),
        "leases": node.leases,
        "builds": node.builds,
        "runs": node.runs,
    })
}

fn find_state(node: &Node, is_shared: bool) -> Option<&'static str> {
    is_shared.then_some(if node.is_recent { "running" } else { "gone" })
}

fn build_row(node: &Node, is_shared: bool) -> [String; 9] {
    let Node { boot, description: NodeDescription { name, address, version }, .. } = node;
    let cell = |text: &str| if text.is_empty() { EMPTY.to_owned() } else { text.to_owned() };
    let seconds = node.seen.as_secs_f64();
    let heartbeat = match find_state(node, is_shared) {
        None => EMPTY.to_owned(),
        Some("gone") => format!("{seconds:.0} s ago (gone)"),
        Some(_) => format!("{seconds:.1} s ago"),
    };
    [
        boot.to_string(),
        cell(name),
        cell(address),
        cell(version),
        cut_to_second(&node.started_at.to_string()),
        heartbeat,
        node.leases.to_string(),
        node.builds.to_string(),
        node.runs.to_string(),
    ]
}
