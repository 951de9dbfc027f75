//! Tests of the statements on Postgres.

mod plans;

use std::time::Duration;

use sqlx::{AssertSqlSafe, Connection as _, Executor, PgConnection, SqlSafeStr};

use super::Postgres;
use super::fragments::build_fragment;
use crate::error::Result;
use crate::kit::clock::Clock;
use crate::store::database::{Database, expand};

/// A database that prepares statements and runs none.
pub(in crate::store) struct Preparer(PgConnection);

impl Preparer {
    pub async fn new(url: &str) -> Self {
        let postgres = Postgres::new(url, Duration::from_mins(1)).unwrap();
        postgres.create(&Clock::system()).await.unwrap().close().await;
        Self(PgConnection::connect(url).await.unwrap())
    }

    pub async fn prepare(&mut self, text: &str) -> Result<(), sqlx::Error> {
        let expanded = expand(text.to_owned().into(), build_fragment);
        for statement in expanded.split(';') {
            self.0.prepare(AssertSqlSafe(statement).into_sql_str()).await?;
        }
        Ok(())
    }
}
