//! `lathe migrate`: copies what an installation has to other storage, with its whole history.
//!
//! The database is copied to a database server. Keys, repositories and artifacts stay in the data directory.

mod database;

use clap::Args;
use registry::{DataDir, DatabaseLocation};

use self::database::DatabaseMove;
use crate::failure::Outcome;
use crate::output::Screen;
use crate::server::{self, DataArguments, database_url};

#[derive(Debug, Args)]
#[command(mut_arg("database", |argument| argument.hide(true)))]
pub struct MigrateArguments {
    /// URL of an empty Postgres database, or of one with a part of the copy, such as postgres://user@host/database
    #[arg(long, value_name = "URL", value_parser = database_url)]
    to: DatabaseLocation,
    /// Show what would be copied, and change nothing
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    data: DataArguments,
}

/// Takes the lock, so that no server changes anything meanwhile.
pub async fn run(arguments: &MigrateArguments, screen: Screen) -> anyhow::Result<Outcome> {
    let directory = arguments.data.directory()?;
    server::require_data_directory(&directory)?;
    let data = DataDir::open(&directory)?;
    let lock = data.lock()?;
    let database = DatabaseMove { data: &data, lock: &lock, target: &arguments.to };
    if arguments.dry_run { database.show(screen).await } else { database.run(screen).await }
}
