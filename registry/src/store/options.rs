//! The options of a store.

use crate::config::Config;
use crate::files::data_dir::DataDir;
use crate::kit::clock::Clock;
use crate::secrets::KeyRing;
use crate::tools::SecretValue;

/// Where the rows are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum DatabaseLocation {
    /// A file in the data directory.
    #[default]
    DataDirectory,
    /// A database server.
    Url(SecretValue),
}

/// The data directory of a store, its database, its master key, and its settings.
#[derive(Clone, Debug)]
pub struct StoreOptions<'a> {
    pub data: &'a DataDir,
    pub database: DatabaseLocation,
    pub keys: &'a KeyRing,
    pub clock: Clock,
    pub config: Config,
}
