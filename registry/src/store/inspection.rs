//! The state of a database, for its operator. Looking at it changes nothing.

use std::path::Path;

use super::database::{Database, DatabaseState};
use super::options::DatabaseLocation;
use super::postgres::Postgres;
use super::sqlite::Sqlite;
use crate::config::Config;
use crate::data_dir::DataDir;
use crate::error::Result;

/// Returns the state of the database of a data directory, or of the one with a URL. `None` for a directory without a database.
///
/// # Errors
/// [`Error::DatabaseNewer`](crate::Error::DatabaseNewer), [`Error::DatabaseForeign`](crate::Error::DatabaseForeign) or another reason
/// why a server of this release cannot use it.
pub async fn inspect_database(location: &DatabaseLocation, directory: &Path) -> Result<Option<DatabaseState>> {
    match location {
        DatabaseLocation::DataDirectory if !DataDir::is_at(directory) => Ok(None),
        DatabaseLocation::DataDirectory => {
            Sqlite::new(DataDir::database_file(directory), None).inspect().await.map(Some)
        }
        DatabaseLocation::Url(url) => {
            Postgres::new(url.expose(), Config::default().list_time_max)?.inspect().await.map(Some)
        }
    }
}
