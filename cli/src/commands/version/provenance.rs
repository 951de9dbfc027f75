//! `lathe version provenance` and `lathe version sbom`: print a document byte for byte, so that signatures verify.

use anyhow::Context;

use super::arguments::VersionArguments;
use crate::client::Client;
use crate::failure::Outcome;
use crate::output::print_verbatim;

pub async fn run(client: &Client, arguments: &VersionArguments, document: &str) -> anyhow::Result<Outcome> {
    let tool = client.find_tool(&arguments.tool).await?;
    let text = client.attestation(&tool.id, &arguments.version, document).await;
    let text = text.with_context(|| format!("{document} of {} {}", tool.name, arguments.version))?;
    print_verbatim(&text)?;
    Ok(Outcome::Done)
}
