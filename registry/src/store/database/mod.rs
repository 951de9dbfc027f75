//! The database as the statements see it: connections, queries with values, rows. What differs between databases is behind
//! [`Database`], [`Connections`] and [`Session`], which each database implements.

mod connection;
mod failure;
mod query;
mod row;
mod template;
mod value;

use std::future::Future;
use std::path::Path;
use std::pin::Pin;

use crate::clock::Clock;
use crate::error::Result;
use crate::store::sql::text_search::TextSearch;

pub(super) use connection::{Connection, Execute, Pool, Session};
pub(super) use failure::{Failure, FailureKind};
pub(super) use query::{Query, Statement};
pub(super) use row::{Columns, FromColumn, Row, damaged, get};
pub(super) use template::expanded;
pub(super) use value::Value;

/// What a method of a database returns: a future that is not generic, so that databases are chosen at run time.
pub(super) type Running<'c, T, E = crate::error::Error> = Pin<Box<dyn Future<Output = Result<T, E>> + Send + 'c>>;

/// A task that ends with its value.
pub(super) struct Watch(pub tokio::task::JoinHandle<()>);

impl Drop for Watch {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// The database of an installation.
pub(super) trait Database: Send + Sync {
    /// Opens the connection that writes. Creates the schema, or applies missing migrations.
    fn create<'c>(&'c self, clock: &'c Clock) -> Running<'c, Connection>;

    /// Opens the connection that writes to an existing schema.
    fn writer(&self) -> Running<'_, Connection>;

    /// Opens connections that read.
    fn readers(&self, connections: u32) -> Running<'_, Pool>;

    /// Whether several servers may use the database at the same time.
    fn is_shared(&self) -> bool;

    /// Calls `changed` after each commit of another server that may change what this one has in memory, and when such calls may
    /// have been missed. Ends with the returned value.
    fn watch(&self, changed: Box<dyn Fn() + Send + Sync>) -> Option<Watch>;

    /// Whether this many bytes can be written, as far as can be seen from here.
    fn has_space(&self, bytes: u64) -> bool;

    /// Copies the database to a new file in one transaction.
    fn snapshot<'c>(&'c self, path: &'c Path) -> Running<'c, ()>;

    /// Adds the condition that a row of the full-text index, `t`, matches a search.
    fn matching(&self, statement: &mut Statement, search: &TextSearch);
}

/// Connections that take turns.
pub(super) trait Connections: Send + Sync {
    fn acquire(&self) -> Running<'_, Connection, Failure>;

    fn close(&self) -> Pin<Box<dyn Future<Output = ()> + Send + '_>>;
}
