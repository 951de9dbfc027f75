//! `lathe version`: verification, provenance and contents of versions.

mod arguments;
mod keys;
mod provenance;
mod verify;

use clap::Subcommand;

use arguments::VersionArguments;

use crate::failure::Outcome;
use crate::home::Home;
use crate::output::Screen;

#[derive(Debug, Subcommand)]
pub enum VersionCommand {
    /// Rebuild a version from its commit and compare the bytes
    Verify(verify::VerifyArguments),
    /// Print a version's SLSA provenance in its signed envelope
    Provenance(VersionArguments),
    /// Print a version's CycloneDX bill of materials
    Sbom(VersionArguments),
    /// List the public keys that sign versions
    Keys(keys::KeysArguments),
}

pub async fn run(command: VersionCommand, screen: Screen) -> anyhow::Result<Outcome> {
    let client = Home::of_user()?.client()?;
    match command {
        VersionCommand::Verify(arguments) => verify::run(&client, &arguments, screen).await,
        VersionCommand::Provenance(arguments) => provenance::run(&client, &arguments, "provenance").await,
        VersionCommand::Sbom(arguments) => provenance::run(&client, &arguments, "sbom").await,
        VersionCommand::Keys(arguments) => keys::run(&client, &arguments, screen).await,
    }
}
