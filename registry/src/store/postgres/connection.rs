//! Connections to Postgres.

use std::borrow::Cow;
use std::future::Future;
use std::ops::DerefMut;
use std::pin::Pin;

use sqlx::pool::PoolConnection;
use sqlx::postgres::{PgArguments, PgConnection, PgRow};
use sqlx::query::Query as SqlxQuery;
use sqlx::{AssertSqlSafe, Connection as _, PgPool, Postgres};

use super::errors::failure;
use super::fragments::fragment;
use super::row::Found;
use crate::store::database::{Connection, Connections, Failure, Query, Row, Running, Session, Value, expanded};
use crate::store::deadline::Deadline;

/// A connection of its own or of a pool.
struct Open<C>(Option<C>);

/// The connection that writes.
pub(super) fn alone(connection: PgConnection) -> Connection {
    Connection::new(Open(Some(Box::new(connection))))
}

/// The connections that read.
pub(super) struct Reading(pub PgPool);

impl Connections for Reading {
    fn acquire(&self) -> Running<'_, Connection, Failure> {
        Box::pin(async { Ok(Connection::new(Open(Some(self.0.acquire().await.map_err(failure)?)))) })
    }

    fn close(&self) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        Box::pin(self.0.close())
    }
}

/// Ways to end the use of a connection.
trait End {
    /// Closes a connection of its own, or gives one back to its pool.
    fn end(self) -> impl Future<Output = Result<(), sqlx::Error>> + Send;

    /// Closes the connection without a word, whatever it is doing.
    fn cut(self);
}

impl End for Box<PgConnection> {
    fn end(self) -> impl Future<Output = Result<(), sqlx::Error>> + Send {
        (*self).close()
    }

    fn cut(self) {}
}

impl End for PoolConnection<Postgres> {
    async fn end(self) -> Result<(), sqlx::Error> {
        Ok(())
    }

    fn cut(self) {
        drop(self.detach());
    }
}

impl<C: DerefMut<Target = PgConnection>> Open<C> {
    fn get(&mut self) -> Result<&mut PgConnection, Failure> {
        self.0.as_deref_mut().ok_or_else(|| failure(sqlx::Error::PoolClosed))
    }

    /// Runs statements without values in one call.
    async fn script(&mut self, statements: &mut String) -> Result<(), Failure> {
        if statements.is_empty() {
            return Ok(());
        }
        let script = sqlx::raw_sql(AssertSqlSafe(std::mem::take(statements)));
        script.execute(self.get()?).await.map_err(failure)?;
        Ok(())
    }
}

impl<C: DerefMut<Target = PgConnection> + End + Send + 'static> Session for Open<C> {
    fn rows<'c>(&'c mut self, query: Query) -> Running<'c, Vec<Row>, Failure> {
        Box::pin(async move { found(prepared(query).fetch_all(self.get()?).await) })
    }

    fn execute<'c>(&'c mut self, query: Query) -> Running<'c, u64, Failure> {
        Box::pin(async move {
            let done = prepared(query).execute(self.get()?).await;
            done.map(|done| done.rows_affected()).map_err(failure)
        })
    }

    /// Statements without values that follow each other are sent together. Each other statement is a call: the protocol has no
    /// values for several statements.
    fn run_all<'c>(&'c mut self, queries: Vec<Query>) -> Running<'c, Vec<Row>, Failure> {
        Box::pin(async move {
            let (mut rows, mut script) = (Vec::new(), String::new());
            for query in queries {
                if query.values.is_empty() {
                    script.push_str(&expanded(query.text, fragment));
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

    /// The server notices that the connection is closed, and ends the statement.
    fn abandon(&mut self) {
        if let Some(connection) = self.0.take() {
            connection.cut();
        }
    }

    fn close(mut self: Box<Self>) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        Box::pin(async move {
            let Some(connection) = self.0.take() else { return };
            if let Err(error) = connection.end().await {
                tracing::warn!(%error, "closing a database connection failed");
            }
        })
    }
}

/// The texts of statements come from the program.
fn prepared(query: Query) -> SqlxQuery<'static, Postgres, PgArguments> {
    let text = match expanded(query.text, fragment) {
        Cow::Borrowed(text) => sqlx::query(text),
        Cow::Owned(text) => sqlx::query(AssertSqlSafe(text)),
    };
    query.values.into_iter().fold(text, |query, value| match value {
        Value::Text(text) => query.bind(text),
        Value::Integer(number) => query.bind(number),
        Value::Bytes(bytes) => query.bind(bytes),
    })
}

fn found(rows: Result<Vec<PgRow>, sqlx::Error>) -> Result<Vec<Row>, Failure> {
    Ok(rows.map_err(failure)?.into_iter().map(|row| Row::new(Found(row))).collect())
}
