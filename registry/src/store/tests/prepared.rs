//! Every statement is accepted by both databases, also one that no other test runs. The statements of lists and searches are
//! put together at run time; tests of the public interface run those with all filters and orders.

use std::path::Path;

use super::cluster::Cluster;
use super::statements::{Found, statements};
use crate::store::{postgres, sqlite};

/// Fewer statements mean that the test no longer sees them.
const STATEMENTS_MIN: usize = 100;

fn all() -> Vec<Found> {
    let found = statements(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src/store/sql"));
    assert!(found.len() >= STATEMENTS_MIN, "only {} statements were found", found.len());
    found
}

/// Fails with all statements that were refused.
fn none(refused: &[(Found, sqlx::Error)]) {
    let lines = refused.iter().map(|(Found { file, text }, error)| format!("{file}: {error}\n    {text}"));
    assert!(refused.is_empty(), "{}", lines.collect::<Vec<_>>().join("\n"));
}

#[tokio::test]
async fn every_statement_is_prepared_on_sqlite() {
    let (mut preparer, mut refused) = (sqlite::tests::Preparer::new().await, Vec::new());
    for statement in all() {
        if let Err(error) = preparer.prepare(&statement.text).await {
            refused.push((statement, error));
        }
    }
    none(&refused);
}

#[tokio::test]
async fn every_statement_is_prepared_on_postgres() {
    let Some(cluster) = Cluster::start() else { return };
    let mut preparer = postgres::tests::Preparer::new(&cluster.url("postgres")).await;
    let mut refused = Vec::new();
    for statement in all() {
        if let Err(error) = preparer.prepare(&statement.text).await {
            refused.push((statement, error));
        }
    }
    none(&refused);
}
