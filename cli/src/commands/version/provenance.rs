//! `lathe version provenance` and `lathe version sbom`: the document as it was signed, on stdout.

use anyhow::Context;

use super::VersionArguments;
use crate::client::Client;
use crate::failure::Outcome;
use crate::output::Screen;

pub async fn run(
    client: &Client,
    arguments: &VersionArguments,
    document: &str,
    screen: Screen,
) -> anyhow::Result<Outcome> {
    let tool = client.find_tool(&arguments.tool).await?;
    let text = client.attestation(&tool.id, &arguments.version, document).await;
    let text = text.with_context(|| format!("{document} of {} {}", tool.name, arguments.version))?;
    screen.verbatim(&text)?;
    Ok(Outcome::Done)
}
