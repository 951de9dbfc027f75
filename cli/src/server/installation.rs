//! Opens an installation, for commands that need no server.

use std::path::Path;

use agents::AgentStore;
use anyhow::Context;
use registry::{Clock, DataDir, DatabaseLocation, KeyRing, Store, StoreOptions};

use super::Location;
use crate::failure::Failure;

/// Opens the store of an installation.
pub async fn open_store(location: &Location) -> anyhow::Result<Store> {
    let opened = open_with_key(location).await;
    opened.with_context(|| match location.database {
        DatabaseLocation::DataDirectory => format!("opening the data directory {}", location.directory.display()),
        DatabaseLocation::Url(_) => "opening the database".to_owned(),
    })
}

/// Opens the store of an existing installation. Another directory stays as it is.
pub async fn open_existing_store(location: &Location) -> anyhow::Result<Store> {
    require_installation(location)?;
    open_store(location).await
}

/// Refuses a location without an installation. With a database elsewhere, its data directory has the master key: another directory
/// would get a new key, with which no server opens the database.
pub fn require_installation(location: &Location) -> anyhow::Result<()> {
    if location.database == DatabaseLocation::DataDirectory {
        return require_data_directory(&location.directory);
    }
    if DataDir::has_key(&location.directory) {
        return Ok(());
    }
    let message =
        format!("there is no data directory {} with the master key of the database", location.directory.display());
    Err(Failure::coded("not_found", message, "name the server's data directory with --data"))
}

/// Refuses a directory without the database of an installation.
pub fn require_data_directory(directory: &Path) -> anyhow::Result<()> {
    if DataDir::is_at(directory) {
        return Ok(());
    }
    let path = directory.display();
    let message = if directory.is_dir() {
        format!("{path} is no data directory: it has no database")
    } else {
        format!("there is no data directory {path}")
    };
    Err(Failure::coded("not_found", message, "name the server's data directory with --data"))
}

async fn open_with_key(location: &Location) -> anyhow::Result<Store> {
    let data = DataDir::open(&location.directory)?;
    let keys = KeyRing::load(&data)?;
    let options = StoreOptions {
        data: &data,
        database: location.database.clone(),
        keys: &keys,
        clock: Clock::system(),
        config: registry::Config::default(),
    };
    // Every way to the database knows the tables of agents, so that none leaves their rows behind.
    let store = AgentStore::open(options, agents::StoreConfig::default()).await?;
    Ok(store.registry().clone())
}
