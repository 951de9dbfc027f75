//! `lathe version …`: whether a version is what was pushed, and what it is made of.

mod keys;
mod provenance;
mod verify;

use clap::{Args, Subcommand};

use crate::failure::Outcome;
use crate::home::Home;
use crate::output::Screen;

#[derive(Debug, Subcommand)]
pub enum VersionCommand {
    /// Build a version again from its commit, and compare
    Verify(verify::VerifyArguments),
    /// Print how a version was made: SLSA provenance in a signed envelope
    Provenance(VersionArguments),
    /// Print what a version is made of: a CycloneDX bill of materials
    Sbom(VersionArguments),
    /// List the public keys that versions are signed with
    Keys(keys::KeysArguments),
}

#[derive(Debug, Args)]
pub struct VersionArguments {
    /// The tool's name or id
    tool: String,
    /// The version, such as 1.2.0
    version: String,
}

pub async fn run(command: VersionCommand, screen: Screen) -> anyhow::Result<Outcome> {
    let client = Home::of_user()?.client()?;
    match command {
        VersionCommand::Verify(arguments) => verify::run(&client, &arguments, screen).await,
        VersionCommand::Provenance(arguments) => provenance::run(&client, &arguments, "provenance", screen).await,
        VersionCommand::Sbom(arguments) => provenance::run(&client, &arguments, "sbom", screen).await,
        VersionCommand::Keys(arguments) => keys::run(&client, &arguments, screen).await,
    }
}
