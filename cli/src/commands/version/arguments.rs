//! A version on the command line.

use clap::Args;

#[derive(Debug, Args)]
pub struct VersionArguments {
    /// The tool's name or id
    pub tool: String,
    /// The version, such as 1.2.0
    pub version: String,
}
