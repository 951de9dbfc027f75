//! The database of an installation.

use std::path::Path;

use super::{Connection, Pool, Running, Statement, TextSearch, Window};
use crate::kit::clock::Clock;

/// Hears a notice of a change; `None` when notices may have been missed.
pub(in crate::store) type Hear = Box<dyn Fn(Option<&str>) + Send + Sync>;

/// A task that ends with its value.
pub(in crate::store) struct Watch(pub tokio::task::JoinHandle<()>);

impl Drop for Watch {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// A database that a server of this release can use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DatabaseState {
    /// The name of the program, with its version.
    pub product: String,
    pub schema: SchemaState,
    /// Connections that the database accepts from all clients together; `None` for a file.
    pub connections_max: Option<u64>,
}

/// The schema of a database that a server of this release can use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SchemaState {
    /// The first server creates it.
    Empty,
    /// The next server of this release applies the missing migrations.
    Older {
        applied: u32,
        known: u32,
    },
    Current {
        number: u32,
    },
}

/// The database of an installation.
pub(in crate::store) trait Database: Send + Sync {
    /// Creates the schema, or applies missing migrations. Returns the connection that did it.
    fn create<'c>(&'c self, clock: &'c Clock) -> Running<'c, Connection>;

    /// Returns the state of the database, which stays as it is. Fails as [`Database::create`] would, as far as that can be seen.
    fn inspect(&self) -> Running<'_, DatabaseState>;

    /// Prepares the schema for the next months, and the statistics of the planner.
    fn prepare<'c>(&'c self, clock: &'c Clock) -> Running<'c, ()>;

    /// Returns the connection that writes to an existing schema. It may be opened by its first transaction.
    fn writer(&self) -> Running<'_, Connection>;

    /// Opens connections that read.
    fn readers(&self, connections: u32) -> Running<'_, Pool>;

    /// Opens connections that count requests: what they commit may be lost in a crash. `None` when no other server counts.
    fn counters(&self, connections: u32) -> Option<Pool>;

    /// Whether several servers may use the database at the same time.
    fn is_shared(&self) -> bool;

    /// Calls `hear` with each notice of a change, and with `None` when notices may have been missed. Ends with the returned value.
    fn watch(&self, hear: Hear) -> Option<Watch>;

    /// Whether this many bytes can be written, as far as can be seen from here.
    fn has_space(&self, bytes: u64) -> bool;

    /// Copies the database to a new file in one transaction.
    fn snapshot<'c>(&'c self, path: &'c Path) -> Running<'c, ()>;

    /// Whether the full-text index finds the rows with a word in their order. Otherwise a search reads it in windows.
    fn finds_in_order(&self) -> bool;

    /// Adds the rows of the full-text index that are in the window and match the search, as the table `t`, newest first.
    fn add_matches(&self, statement: &mut Statement, search: &TextSearch, window: &Window);
}
