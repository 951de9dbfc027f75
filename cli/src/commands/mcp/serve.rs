//! `lathe mcp serve --stdio`: an agent for a client that starts a process.

use futures_util::stream::FuturesUnordered;
use futures_util::{FutureExt, StreamExt};
use tokio::io::{AsyncBufReadExt, BufReader};

use super::bridge::Bridge;
use crate::client::Client;
use crate::failure::Outcome;

/// Forwards messages, in the order in which the client writes them, until it closes the standard input, then waits for the answers that are left.
pub async fn run(client: &Client, agent: &str) -> anyhow::Result<Outcome> {
    let agent = client.find_agent(agent).await?;
    let bridge = Bridge::new(client, agent.id.into());
    let mut lines = BufReader::new(tokio::io::stdin()).lines();
    let mut pending = FuturesUnordered::new();
    let mut is_open = true;
    while is_open || !pending.is_empty() {
        tokio::select! {
            line = lines.next_line(), if is_open => match line? {
                Some(line) if line.trim().is_empty() => {}
                Some(line) => {
                    let turn = bridge.begin_turn();
                    pending.push(bridge.forward(line, turn).boxed_local());
                }
                None => {
                    is_open = false;
                    bridge.close();
                }
            },
            Some(forwarded) = pending.next() => forwarded?,
        }
    }
    Ok(Outcome::Done)
}
