//! The data directory and the database of an installation.

use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::Args;
use registry::{DataDir, DatabaseLocation, SecretValue};
use serde::{Deserialize, Deserializer};

use crate::failure::Failure;
use crate::output::Screen;

const DATA_DEFAULT: &str = "./lathe-data";

/// The data directory and the settings file, for every command that works on a data directory.
#[derive(Clone, Debug, Default, Args, Deserialize)]
#[serde(default)]
pub struct DataArguments {
    /// The data directory [default: ./lathe-data]
    ///
    /// Created at the first start, accessible only to its owner.
    #[arg(long, env = "LATHE_DATA", value_name = "DIRECTORY")]
    pub(super) data: Option<PathBuf>,
    /// URL of a Postgres database, such as postgres://user@host/database [default: SQLite in the data directory]
    ///
    /// It is [Postgres](../how-to/scale-out.md) 15 or later; `?sslmode=verify-full&sslrootcert=FILE` is for
    /// [TLS](../how-to/scale-out.md#postgres-over-tls) with a checked certificate. Other users of the machine see arguments of
    /// programs, so a password belongs in the variable or the file.
    #[arg(long, env = "LATHE_DATABASE", value_name = "URL", hide_env_values = true, value_parser = parse_database_url)]
    #[serde(deserialize_with = "deserialize_database")]
    pub(super) database: Option<DatabaseLocation>,
    /// The settings file, such as lathe.toml [default: none]
    ///
    /// See [the settings file](#the-settings-file); it must exist.
    #[arg(long, env = "LATHE_CONFIG", value_name = "FILE")]
    #[serde(skip)]
    pub(super) config: Option<PathBuf>,
}

impl DataArguments {
    /// Fills settings that are not given from those of the settings file.
    pub(super) fn fill_from(self, file: Self) -> Self {
        Self { data: self.data.or(file.data), database: self.database.or(file.database), config: self.config }
    }

    /// The location that these settings name.
    pub(super) fn locate(&self) -> anyhow::Result<Location> {
        let directory = self.data.as_deref().unwrap_or(Path::new(DATA_DEFAULT));
        // Child processes of the server work in other directories.
        let absolute = std::path::absolute(directory);
        let absolute = absolute.with_context(|| format!("finding the data directory {}", directory.display()))?;
        Ok(Location { directory: absolute, database: self.database.clone().unwrap_or_default() })
    }

    /// The location for a command that may create it, or prints what only its server accepts. A directory that is not named has to be
    /// that of a server that runs: the current directory may be any other.
    pub(super) fn locate_of_server(&self) -> anyhow::Result<Location> {
        self.locate_if(DataDir::has_server)
    }

    /// The location of a process beside a server. A directory that is not named has to be there.
    pub(super) fn locate_of_worker(&self) -> anyhow::Result<Location> {
        self.locate_if(DataDir::has_key)
    }

    fn locate_if(&self, is_usable: impl Fn(&Path) -> bool) -> anyhow::Result<Location> {
        let location = self.locate()?;
        match self.data.is_some() || is_usable(&location.directory) {
            true => Ok(location),
            false => Err(refuse_unnamed(&location.directory)),
        }
    }
}

/// The refusal of a directory that is neither named nor that of a server.
fn refuse_unnamed(directory: &Path) -> anyhow::Error {
    let path = directory.display();
    if !DataDir::has_key(directory) {
        let hint = "name the data directory of the server with --data, or run this where `lathe serve` was started";
        return Failure::coded("not_found", format!("there is no data directory {path}"), hint);
    }
    let hint = format!("start `lathe serve` first; or add --data {path} if it is the right one");
    Failure::refused(format!("no server runs on the data directory {path}"), hint)
}

/// Where an installation has its data.
#[derive(Clone, Debug)]
pub struct Location {
    /// The data directory, an absolute path.
    pub directory: PathBuf,
    pub database: DatabaseLocation,
}

impl Location {
    /// A data directory with its database.
    pub fn of_files(directory: impl Into<PathBuf>) -> Self {
        Self { directory: directory.into(), database: DatabaseLocation::DataDirectory }
    }

    /// Says which data directory a command uses: the default one depends on the current directory.
    pub fn announce(&self, screen: Screen) {
        screen.note(format!("data directory: {}", self.directory.display()));
    }
}

/// Reads the URL of a database server.
pub fn parse_database_url(text: &str) -> anyhow::Result<DatabaseLocation> {
    let is_postgres = ["postgres://", "postgresql://"].iter().any(|scheme| text.starts_with(scheme));
    let expected = "expected a URL like postgres://user:password@host:5432/database";
    anyhow::ensure!(is_postgres, "{expected}; leave it out for SQLite in the data directory");
    Ok(DatabaseLocation::Url(SecretValue::new(text.to_owned())))
}

fn deserialize_database<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<DatabaseLocation>, D::Error> {
    let text = String::deserialize(deserializer)?;
    parse_database_url(&text).map(Some).map_err(serde::de::Error::custom)
}
