//! `lathe tool provenance` and `lathe tool sbom`: print a document byte for byte, so that signatures verify.

use super::version_arguments::{VersionArguments, name_missing};
use crate::client::Client;
use crate::failure::Outcome;
use crate::output::print_verbatim;

pub async fn run(client: &Client, arguments: &VersionArguments, document: &str) -> anyhow::Result<Outcome> {
    let (tool, version) = arguments.find(client).await?;
    let text = client.get_attestation(&tool.id, &version, document).await;
    print_verbatim(&name_missing(text, &tool, &version)?)?;
    Ok(Outcome::Done)
}
