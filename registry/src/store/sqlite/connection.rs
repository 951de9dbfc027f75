//! Connections to a file of SQLite.

use std::future::Future;
use std::ops::DerefMut;
use std::pin::Pin;

use sqlx::query::Query as SqlxQuery;
use sqlx::sqlite::{SqliteArguments, SqliteConnection};
use sqlx::{AssertSqlSafe, Connection as _, Sqlite, SqlitePool};

use super::errors::to_failure;
use super::fragments::build_fragment;
use super::row::SqliteColumns;
use crate::store::database::{
    Connection, Connections, Failure, PoolCount, Query, Row, Running, Session, Value, expand,
};
use crate::store::deadline::Deadline;

/// Instructions of SQLite's virtual machine between two checks of a deadline: less than a millisecond.
const STEPS_PER_CHECK: i32 = 10_000;

/// A connection of its own or of a pool.
struct Open<C>(C);

/// The connection that writes.
pub(super) fn wrap_connection(connection: SqliteConnection) -> Connection {
    Connection::new(Open(Box::new(connection)))
}

pub(super) struct Reading(pub SqlitePool);

impl Connections for Reading {
    fn acquire(&self) -> Running<'_, Connection, Failure> {
        Box::pin(async { Ok(Connection::new(Open(self.0.acquire().await.map_err(to_failure)?))) })
    }

    fn count(&self) -> PoolCount {
        PoolCount { open: usize::try_from(self.0.size()).unwrap_or(usize::MAX), idle: self.0.num_idle() }
    }

    fn close(&self) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        Box::pin(self.0.close())
    }
}

/// Closes a connection, or gives it back to its pool.
trait End {
    fn end(self) -> impl Future<Output = Result<(), sqlx::Error>> + Send;
}

impl End for Box<SqliteConnection> {
    fn end(self) -> impl Future<Output = Result<(), sqlx::Error>> + Send {
        (*self).close()
    }
}

impl End for sqlx::pool::PoolConnection<Sqlite> {
    async fn end(self) -> Result<(), sqlx::Error> {
        Ok(())
    }
}

impl<C: DerefMut<Target = SqliteConnection> + End + Send + 'static> Session for Open<C> {
    fn rows<'c>(&'c mut self, query: Query) -> Running<'c, Vec<Row>, Failure> {
        Box::pin(async move { collect_rows(bind_values(query).fetch_all(&mut *self.0).await) })
    }

    fn execute<'c>(&'c mut self, query: Query) -> Running<'c, u64, Failure> {
        Box::pin(async move {
            let done = bind_values(query).execute(&mut *self.0).await;
            done.map(|done| done.rows_affected()).map_err(to_failure)
        })
    }

    /// Joins the statements: a call wakes the thread of the connection and its caller again, which takes longer than a small
    /// statement.
    fn run_all<'c>(&'c mut self, queries: Vec<Query>) -> Running<'c, Vec<Row>, Failure> {
        Box::pin(async move {
            if queries.is_empty() {
                return Ok(Vec::new());
            }
            collect_rows(bind_values(join_queries(queries)).fetch_all(&mut *self.0).await)
        })
    }

    /// Replaces the handler of the connection's previous list.
    fn limit<'c>(&'c mut self, deadline: &Deadline) -> Running<'c, (), Failure> {
        let deadline = deadline.clone();
        Box::pin(async move {
            let mut handle = self.0.lock_handle().await.map_err(to_failure)?;
            handle.set_progress_handler(STEPS_PER_CHECK, move || !deadline.has_passed());
            Ok(())
        })
    }

    /// The handler of [`Session::limit`] stops the statement.
    fn abandon(&mut self) {}

    fn close(self: Box<Self>) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        Box::pin(async move {
            if let Err(error) = self.0.end().await {
                tracing::warn!(%error, "closing a database connection failed");
            }
        })
    }
}

fn join_queries(queries: Vec<Query>) -> Query {
    let (mut text, mut values) = (String::new(), Vec::new());
    for query in queries {
        if !text.is_empty() {
            text.push_str("; ");
        }
        text.push_str(&renumber_parameters(&query.text, values.len()));
        values.extend(query.values);
    }
    Query { text: text.into(), values }
}

/// Adds a number to the numbers of the parameters.
fn renumber_parameters(statement: &str, before: usize) -> String {
    let mut parts = statement.split('$');
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let digits = part.find(|c: char| !c.is_ascii_digit()).unwrap_or(part.len());
        let number = part[..digits].parse::<usize>().unwrap_or(0);
        text.push_str(&format!("${}{}", number + before, &part[digits..]));
    }
    text
}

/// The texts of statements come from the program.
fn bind_values(query: Query) -> SqlxQuery<'static, Sqlite, SqliteArguments> {
    let text = match expand(query.text, build_fragment) {
        std::borrow::Cow::Borrowed(text) => sqlx::query(text),
        std::borrow::Cow::Owned(text) => sqlx::query(AssertSqlSafe(text)),
    };
    query.values.into_iter().fold(text, |query, value| match value {
        Value::Text(text) => query.bind(text),
        Value::Integer(number) => query.bind(number),
        Value::Bytes(bytes) => query.bind(bytes),
    })
}

fn collect_rows(rows: Result<Vec<sqlx::sqlite::SqliteRow>, sqlx::Error>) -> Result<Vec<Row>, Failure> {
    Ok(rows.map_err(to_failure)?.into_iter().map(|row| Row::new(SqliteColumns(row))).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_of_joined_statements_are_numbered_in_turn() {
        let joined = join_queries(vec![
            Query::new("BEGIN"),
            Query::new("INSERT $2, $1").bind("a").bind("b"),
            Query::new("INSERT $1").bind("c"),
        ]);
        assert_eq!(joined.text, "BEGIN; INSERT $2, $1; INSERT $3");
        assert_eq!(joined.values.len(), 3);
    }
}
