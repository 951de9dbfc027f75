//! The connection that writes. It is opened, and after its loss opened again, by the statement that begins a transaction.

use std::pin::Pin;

use sqlx::PgConnection;
use tokio::time::timeout;

use super::connection::{Open, connect};
use super::errors::not_connected;
use super::settings::{BEGIN_TIME_MAX, Settings};
use crate::error::Error;
use crate::store::database::{Connection, Failure, Query, Row, Running, Session};
use crate::store::deadline::Deadline;

/// The fragment that begins a transaction.
const BEGIN: &str = "{begin";

struct Writing {
    settings: Settings,
    /// `None` before the first transaction, and after the loss of the connection.
    open: Option<Open<Box<PgConnection>>>,
}

/// Returns a connection that is opened by its first transaction.
pub(super) fn build_writer(settings: Settings) -> Connection {
    Connection::new(Writing { settings, open: None })
}

impl Writing {
    /// Begins a transaction, if necessary over a new connection: the last one may have been lost while it was idle. Nothing else
    /// of the transaction was sent over it.
    async fn begin(&mut self, begin: &Query) -> Result<(), Failure> {
        if self.open.is_some() {
            match self.begin_here(begin).await {
                Err(Failure { error: Error::DatabaseUnavailable { detail }, .. }) => {
                    tracing::info!(detail, "the connection that writes was lost; opening another one");
                }
                begun => return begun,
            }
        }
        let connection = connect(&self.settings.options).await?;
        self.open = Some(Open::new(Box::new(connection), self.settings.answer_time_max));
        self.begin_here(begin).await
    }

    async fn begin_here(&mut self, begin: &Query) -> Result<(), Failure> {
        let begun = timeout(BEGIN_TIME_MAX, self.open()?.run_all(vec![begin.clone()])).await;
        let begun = begun.unwrap_or_else(|_| {
            let detail = format!("no answer within {BEGIN_TIME_MAX:?}");
            Err(Error::DatabaseUnavailable { detail }.into())
        });
        if begun.is_err() {
            self.abandon();
        }
        begun.map(drop)
    }

    fn open(&mut self) -> Result<&mut Open<Box<PgConnection>>, Failure> {
        self.open.as_mut().ok_or_else(not_connected)
    }
}

impl Session for Writing {
    fn rows<'c>(&'c mut self, query: Query) -> Running<'c, Vec<Row>, Failure> {
        Box::pin(async move { self.open()?.rows(query).await })
    }

    fn execute<'c>(&'c mut self, query: Query) -> Running<'c, u64, Failure> {
        Box::pin(async move { self.open()?.execute(query).await })
    }

    fn run_all<'c>(&'c mut self, mut queries: Vec<Query>) -> Running<'c, Vec<Row>, Failure> {
        Box::pin(async move {
            if queries.first().is_some_and(|first| first.text.starts_with(BEGIN)) {
                self.begin(&queries.remove(0)).await?;
            }
            self.open()?.run_all(queries).await
        })
    }

    /// Statements that write have a limit already.
    fn limit<'c>(&'c mut self, _deadline: &Deadline) -> Running<'c, (), Failure> {
        Box::pin(async { Ok(()) })
    }

    fn abandon(&mut self) {
        self.open = None;
    }

    fn close(self: Box<Self>) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        match self.open {
            Some(open) => Box::new(open).close(),
            None => Box::pin(async {}),
        }
    }
}
