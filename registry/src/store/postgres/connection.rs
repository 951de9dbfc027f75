//! Connections to Postgres.

use std::borrow::Cow;
use std::future::Future;
use std::ops::DerefMut;
use std::pin::Pin;
use std::time::Duration;

use sqlx::pool::PoolConnection;
use sqlx::postgres::{PgArguments, PgConnectOptions, PgConnection};
use sqlx::query::Query as SqlxQuery;
use sqlx::{AssertSqlSafe, ConnectOptions, Connection as _, PgPool, Postgres};
use tokio::time::timeout;

use super::errors::{not_connected, to_connection_failure, to_failure};
use super::fragments::build_fragment;
use super::row::PostgresColumns;
use super::settings::{CONNECT_TIME_MAX, PING_TIME_MAX};
use crate::error::Error;
use crate::store::database::{
    Connection, Connections, Failure, PoolCount, Query, Row, Running, Session, Value, expand,
};
use crate::store::deadline::Deadline;

/// Opens a connection.
pub(super) async fn connect(options: &PgConnectOptions) -> Result<PgConnection, Error> {
    let late = |_| Error::DatabaseUnavailable { detail: format!("no connection within {CONNECT_TIME_MAX:?}") };
    let connected = timeout(CONNECT_TIME_MAX, options.connect()).await.map_err(late)?;
    Ok(connected.map_err(to_connection_failure)?)
}

/// A connection of its own or of a pool.
pub(super) struct Open<C: End> {
    /// `None` after its end.
    connection: Option<C>,
    answer_time_max: Duration,
}

impl<C: End> Open<C> {
    pub const fn new(connection: C, answer_time_max: Duration) -> Self {
        Self { connection: Some(connection), answer_time_max }
    }
}

/// A connection of its own, with a time in which statements are answered.
pub(super) fn wrap_connection(connection: PgConnection, answer_time_max: Duration) -> Connection {
    Connection::new(Open::new(Box::new(connection), answer_time_max))
}

/// The connections that read.
pub(super) struct Reading {
    pub pool: PgPool,
    pub answer_time_max: Duration,
}

impl Connections for Reading {
    fn acquire(&self) -> Running<'_, Connection, Failure> {
        Box::pin(async {
            let connection = self.pool.acquire().await.map_err(to_failure)?;
            Ok(Connection::new(Open::new(connection, self.answer_time_max)))
        })
    }

    fn count(&self) -> PoolCount {
        PoolCount { open: usize::try_from(self.pool.size()).unwrap_or(usize::MAX), idle: self.pool.num_idle() }
    }

    fn close(&self) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        Box::pin(self.pool.close())
    }
}

/// Ways to end the use of a connection.
pub(super) trait End: Sized {
    /// Closes a connection of its own, or gives one back to its pool.
    fn end(self) -> impl Future<Output = Result<(), sqlx::Error>> + Send;

    /// Ends the use without waiting.
    fn release(self);

    /// Closes the connection without a word, whatever it is doing.
    fn cut(self);
}

impl End for Box<PgConnection> {
    fn end(self) -> impl Future<Output = Result<(), sqlx::Error>> + Send {
        (*self).close()
    }

    fn release(self) {}

    fn cut(self) {}
}

/// The pool keeps a connection that answers, and opens another one in the place of any other. By itself it waits for ever for the
/// answer of a host that is gone: until then it has a connection less, and cannot be closed.
impl End for PoolConnection<Postgres> {
    async fn end(mut self) -> Result<(), sqlx::Error> {
        let late = |_| std::io::Error::from(std::io::ErrorKind::TimedOut).into();
        timeout(PING_TIME_MAX, self.return_to_pool()).await.map_err(late)
    }

    fn release(self) {
        tokio::spawn(self.end());
    }

    fn cut(self) {
        drop(self.detach());
    }
}

impl<C: End> Drop for Open<C> {
    fn drop(&mut self) {
        if let Some(connection) = self.connection.take() {
            connection.release();
        }
    }
}

impl<C: DerefMut<Target = PgConnection> + End + Send> Open<C> {
    /// Runs a statement. The connection ends when the answer does not come in time.
    async fn await_answer<T>(
        &mut self,
        statement: impl AsyncFnOnce(&mut PgConnection) -> Result<T, sqlx::Error>,
    ) -> Result<T, Failure> {
        let time_max = self.answer_time_max;
        let connection = self.connection.as_deref_mut().ok_or_else(not_connected)?;
        let Ok(answer) = timeout(time_max, statement(connection)).await else {
            self.cut();
            return Err(Error::DatabaseUnavailable { detail: format!("no answer within {time_max:?}") }.into());
        };
        answer.map_err(to_failure)
    }

    /// Runs statements without values in one call.
    async fn script(&mut self, statements: &mut String) -> Result<(), Failure> {
        if statements.is_empty() {
            return Ok(());
        }
        let script = sqlx::raw_sql(AssertSqlSafe(std::mem::take(statements)));
        self.await_answer(async |connection| script.execute(connection).await).await?;
        Ok(())
    }

    /// The server notices that the connection is closed, and ends the statement.
    fn cut(&mut self) {
        if let Some(connection) = self.connection.take() {
            connection.cut();
        }
    }
}

impl<C: DerefMut<Target = PgConnection> + End + Send + 'static> Session for Open<C> {
    fn rows<'c>(&'c mut self, query: Query) -> Running<'c, Vec<Row>, Failure> {
        Box::pin(async move {
            let rows = self.await_answer(async |connection| bind_values(query).fetch_all(connection).await).await?;
            Ok(rows.into_iter().map(|row| Row::new(PostgresColumns(row))).collect())
        })
    }

    fn execute<'c>(&'c mut self, query: Query) -> Running<'c, u64, Failure> {
        Box::pin(async move {
            let done = self.await_answer(async |connection| bind_values(query).execute(connection).await).await?;
            Ok(done.rows_affected())
        })
    }

    /// Statements without values that follow each other are sent together. Each other statement is a call: the protocol has no
    /// values for several statements.
    fn run_all<'c>(&'c mut self, queries: Vec<Query>) -> Running<'c, Vec<Row>, Failure> {
        Box::pin(async move {
            let (mut rows, mut script) = (Vec::new(), String::new());
            for query in queries {
                if query.values.is_empty() {
                    script.push_str(&expand(query.text, build_fragment));
                    script.push(';');
                } else {
                    self.script(&mut script).await?;
                    rows.extend(self.rows(query).await?);
                }
            }
            self.script(&mut script).await?;
            Ok(rows)
        })
    }

    /// The connections of a pool have a limit already.
    fn limit<'c>(&'c mut self, _deadline: &Deadline) -> Running<'c, (), Failure> {
        Box::pin(async { Ok(()) })
    }

    fn abandon(&mut self) {
        self.cut();
    }

    fn close(mut self: Box<Self>) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        Box::pin(async move {
            let Some(connection) = self.connection.take() else { return };
            if let Err(error) = connection.end().await {
                tracing::warn!(%error, "closing a database connection failed");
            }
        })
    }
}

/// The texts of statements come from the program.
fn bind_values(query: Query) -> SqlxQuery<'static, Postgres, PgArguments> {
    let text = match expand(query.text, build_fragment) {
        Cow::Borrowed(text) => sqlx::query(text),
        Cow::Owned(text) => sqlx::query(AssertSqlSafe(text)),
    };
    query.values.into_iter().fold(text, |query, value| match value {
        Value::Text(text) => query.bind(text),
        Value::Integer(number) => query.bind(number),
        Value::Bytes(bytes) => query.bind(bytes),
    })
}
