//! `lathe migrate`: copies what an installation has to other storage, with its whole history.
//!
//! The database is copied to a database server, and artifacts and large bodies of recordings to a bucket. Servers that share a
//! database share the repositories, too: with both, the repositories are stored in the bucket, and their refs in the database.
//! The data directory stays as it is, and keeps the keys.

mod contents;
mod database;
mod part;
mod repositories;
mod scratch;

use clap::{ArgGroup, Args};
use registry::{Clock, Config, DataDir, DatabaseLocation, KeyRing, StorageUrl, Store, StoreOptions};

use self::contents::ContentsMove;
use self::database::DatabaseMove;
use self::part::{Part, Summary};
use self::repositories::RepositoryMove;
use crate::failure::Outcome;
use crate::output::Screen;
use crate::server::{self, DataArguments, Location, parse_database_url};

#[derive(Debug, Args)]
#[command(group(ArgGroup::new("target").args(["to", "storage"]).required(true).multiple(true)))]
#[command(mut_arg("database", |argument| argument.help("URL of the Postgres database that the server uses, for --storage without --to")))]
pub struct MigrateArguments {
    /// URL of an empty Postgres database, or of one with a part of the copy, such as postgres://user@host/database
    #[arg(long, value_name = "URL", value_parser = parse_database_url)]
    to: Option<DatabaseLocation>,
    /// Bucket that receives the artifacts, the large bodies of recordings and, with Postgres, the repositories, such as s3://BUCKET/PREFIX
    #[arg(long, value_name = "URL")]
    storage: Option<StorageUrl>,
    /// Show what would be copied, and change nothing
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    data: DataArguments,
}

/// The parts of a locked installation that are copied.
struct Migration<'a> {
    options: &'a StoreOptions<'a>,
    database: Option<DatabaseMove<'a>>,
    contents: Option<ContentsMove>,
}

/// Takes the lock, so that no server changes anything meanwhile.
pub async fn run(arguments: &MigrateArguments, screen: Screen) -> anyhow::Result<Outcome> {
    let location = arguments.data.find_location()?;
    if arguments.to.is_some() {
        server::require_data_directory(&location.directory)?;
    }
    server::require_installation(&location)?;
    location.announce(screen);
    let Location { directory, database } = location;
    let data = DataDir::open(&directory)?;
    let lock = data.lock()?;
    let options = StoreOptions {
        data: &data,
        database: arguments.to.clone().unwrap_or(database),
        keys: &KeyRing::load(&data)?,
        clock: Clock::system(),
        config: Config::default(),
    };
    let migration = Migration {
        options: &options,
        database: arguments.to.as_ref().map(|_| DatabaseMove { options: &options, lock: &lock }),
        contents: ContentsMove::open(&options, arguments.storage.as_ref())?,
    };
    let parts = if arguments.dry_run { migration.plan().await? } else { migration.run().await? };
    let summary = Summary { data: directory, is_dry_run: arguments.dry_run, parts };
    screen.answer(&summary.build_document(), || summary.render(&migration.render_next_steps()))
}

impl Migration<'_> {
    /// Counts what would be copied, and changes nothing.
    async fn plan(&self) -> anyhow::Result<Vec<Part>> {
        let mut parts = Vec::new();
        if let Some(database) = &self.database {
            parts.push(database.plan().await?);
        }
        if let Some(contents) = &self.contents {
            parts.extend(contents.plan().await?);
        }
        if let Some(repositories) = self.find_repositories() {
            parts.push(repositories.plan()?);
        }
        Ok(parts)
    }

    /// Copies everything, and reads it back. The database comes after the contents, and is complete after the repositories, so that
    /// no server starts on a part of the copy.
    async fn run(&self) -> anyhow::Result<Vec<Part>> {
        let mut parts = Vec::new();
        if let Some(database) = &self.database {
            database.check().await?;
        }
        if let Some(contents) = &self.contents {
            parts.extend(contents.run().await?);
        }
        if let Some(database) = &self.database {
            parts.insert(0, database.run().await?);
        }
        if let Some(repositories) = self.find_repositories() {
            let store = self.open_store().await?;
            parts.push(repositories.run(&store).await?);
            store.close().await;
        }
        if let Some(database) = &self.database {
            database.complete().await?;
        }
        Ok(parts)
    }

    /// The repositories, if servers share them.
    fn find_repositories(&self) -> Option<RepositoryMove<'_>> {
        let is_shared = self.options.database != DatabaseLocation::DataDirectory;
        let contents = self.contents.as_ref().filter(|_| is_shared)?;
        Some(RepositoryMove { data: self.options.data, artifacts: contents.target() })
    }

    async fn open_store(&self) -> anyhow::Result<Store> {
        let options = self.options.clone();
        Ok(match &self.database {
            Some(database) => Store::open_copy(database.lock, options).await?,
            None => Store::open(options).await?,
        })
    }

    /// Says what the data directory still has, and how to start the server.
    fn render_next_steps(&self) -> String {
        let data = self.options.data;
        let path = data.root().display();
        let mut lines = Vec::new();
        if self.database.is_some() {
            let rest = if self.contents.is_some() { "keys" } else { "keys, the repositories and the artifacts" };
            let file = data.database();
            let file = file.file_name().unwrap_or_default().to_string_lossy();
            lines.push("all rows were copied and are the same in both databases".to_owned());
            lines.push(format!("{path} still has the {rest}; its {file} is no longer used, so move it elsewhere"));
        } else if self.find_repositories().is_none() {
            lines.push(format!("{path} still has the database, the keys and the repositories"));
        }
        let database = match &self.options.database {
            DatabaseLocation::DataDirectory => String::new(),
            location @ DatabaseLocation::Url(_) => format!(" --database {}", database::show_location(location)),
        };
        let storage =
            self.contents.as_ref().map(|contents| format!(" --storage {}", contents.url())).unwrap_or_default();
        lines.push(format!("start the server: lathe serve --data {path}{database}{storage}"));
        lines.join("\n")
    }
}
