//! Connections, and what runs queries.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use super::{Failure, Query, Row};
use crate::store::changes::Change;
use crate::store::deadline::Deadline;

/// The future that a method of a database returns. It is boxed, so that the database can be chosen at run time.
pub type Running<'c, T, E = crate::error::Error> = Pin<Box<dyn Future<Output = Result<T, E>> + Send + 'c>>;

/// The connections of a pool.
#[derive(Clone, Copy)]
pub(in crate::store) struct PoolCount {
    pub open: usize,
    pub idle: usize,
}

/// Connections that are used in turns.
pub(in crate::store) trait Connections: Send + Sync {
    fn acquire(&self) -> Running<'_, Connection, Failure>;

    /// Returns the numbers of connections that are open, and of those that are not used.
    fn count(&self) -> PoolCount;

    fn close(&self) -> Pin<Box<dyn Future<Output = ()> + Send + '_>>;
}

/// A connection of one database.
pub(in crate::store) trait Session: Send {
    /// Returns all rows of a query.
    fn rows<'c>(&'c mut self, query: Query) -> Running<'c, Vec<Row>, Failure>;

    /// Returns the number of changed rows.
    fn execute<'c>(&'c mut self, query: Query) -> Running<'c, u64, Failure>;

    /// Runs queries in their order, in as few calls of the database as it allows. Returns the rows of all.
    fn run_all<'c>(&'c mut self, queries: Vec<Query>) -> Running<'c, Vec<Row>, Failure>;

    /// Lets the database stop statements after the deadline.
    fn limit<'c>(&'c mut self, deadline: &Deadline) -> Running<'c, (), Failure>;

    /// Ends a statement whose caller is gone.
    fn abandon(&mut self);

    /// Closes the connection. A failure is only logged, because committed data is safe.
    fn close(self: Box<Self>) -> Pin<Box<dyn Future<Output = ()> + Send>>;
}

pub struct Connection {
    session: Box<dyn Session>,
    /// Changes that the present write has named.
    changes: Vec<Change>,
}

impl Connection {
    pub(in crate::store) fn new(session: impl Session + 'static) -> Self {
        Self { session: Box::new(session), changes: Vec::new() }
    }

    /// Names a change of rows that servers keep in memory. Servers hear of it if the write commits.
    pub fn announce(&mut self, change: Change) {
        self.changes.push(change);
    }

    /// Returns the changes that were named since the last call.
    pub(in crate::store) fn take_changes(&mut self) -> Vec<Change> {
        std::mem::take(&mut self.changes)
    }

    pub(in crate::store) fn run_all(&mut self, queries: Vec<Query>) -> Running<'_, Vec<Row>, Failure> {
        self.session.run_all(queries)
    }

    pub(in crate::store) fn limit(&mut self, deadline: &Deadline) -> Running<'_, (), Failure> {
        self.session.limit(deadline)
    }

    pub(in crate::store) fn abandon(&mut self) {
        self.session.abandon();
    }

    pub(in crate::store) async fn close(self) {
        self.session.close().await;
    }
}

/// Connections that are used in turns; cheap to clone.
#[derive(Clone)]
pub struct Pool(Arc<dyn Connections>);

impl Pool {
    pub(in crate::store) fn new(connections: impl Connections + 'static) -> Self {
        Self(Arc::new(connections))
    }

    /// Waits for a free connection.
    pub async fn acquire(&self) -> Result<Connection, Failure> {
        self.0.acquire().await
    }

    pub(in crate::store) fn count(&self) -> PoolCount {
        self.0.count()
    }

    pub(in crate::store) async fn close(&self) {
        self.0.close().await;
    }
}

/// Runs queries: a connection, or the next free one of a pool.
pub trait Execute {
    fn rows(self, query: Query) -> impl Future<Output = Result<Vec<Row>, Failure>> + Send;

    fn execute(self, query: Query) -> impl Future<Output = Result<u64, Failure>> + Send;
}

impl Execute for &mut Connection {
    fn rows(self, query: Query) -> impl Future<Output = Result<Vec<Row>, Failure>> + Send {
        self.session.rows(query)
    }

    fn execute(self, query: Query) -> impl Future<Output = Result<u64, Failure>> + Send {
        self.session.execute(query)
    }
}

impl Execute for &Pool {
    async fn rows(self, query: Query) -> Result<Vec<Row>, Failure> {
        self.acquire().await?.session.rows(query).await
    }

    async fn execute(self, query: Query) -> Result<u64, Failure> {
        self.acquire().await?.session.execute(query).await
    }
}
