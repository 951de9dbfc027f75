//! Applying missing migrations, in one transaction, with their checksums.

use sqlx::Row as _;

use super::dialect::Connection;
use crate::clock::Clock;
use crate::digest::Digest;
use crate::error::{Error, Result};
use migrations::{Migration, SQLITE};

const CREATE: &str = "CREATE TABLE IF NOT EXISTS schema_migrations (
    number INTEGER PRIMARY KEY, name TEXT NOT NULL, checksum TEXT NOT NULL, applied_at INTEGER NOT NULL
) STRICT";

/// Applies missing migrations. Refuses a database of a newer release, and migrations that were changed after they were
/// applied.
pub(super) async fn migrate(connection: &mut Connection, clock: &Clock) -> Result<()> {
    sqlx::query("BEGIN IMMEDIATE").execute(&mut *connection).await?;
    let applied = apply_missing(connection, clock).await;
    let end = if applied.is_ok() { "COMMIT" } else { "ROLLBACK" };
    let ended = sqlx::query(end).execute(connection).await;
    applied?;
    ended.map(|_| ()).map_err(Error::from)
}

async fn apply_missing(connection: &mut Connection, clock: &Clock) -> Result<()> {
    sqlx::query(CREATE).execute(&mut *connection).await?;
    let applied = applied(connection).await?;
    check_known(&applied)?;
    for migration in SQLITE.iter().skip(applied.len()) {
        sqlx::raw_sql(migration.up).execute(&mut *connection).await?;
        record(connection, migration, clock).await?;
    }
    Ok(())
}

/// Returns the numbers and checksums of the applied migrations, in order.
async fn applied(connection: &mut Connection) -> Result<Vec<(u32, String)>> {
    let rows =
        sqlx::query("SELECT number, checksum FROM schema_migrations ORDER BY number").fetch_all(connection).await?;
    rows.iter().map(|row| Ok((row.try_get(0)?, row.try_get(1)?))).collect()
}

fn check_known(applied: &[(u32, String)]) -> Result<()> {
    let known = SQLITE.last().map_or(0, |migration| migration.number);
    if let Some((found, _)) = applied.last().filter(|(number, _)| *number > known) {
        return Err(Error::DatabaseNewer { found: *found, known });
    }
    let changed = applied
        .iter()
        .zip(SQLITE)
        .find(|((number, checksum), migration)| *number != migration.number || *checksum != checksum_of(migration));
    changed.map_or(Ok(()), |(_, migration)| Err(Error::MigrationChanged { number: migration.number }))
}

async fn record(connection: &mut Connection, migration: &Migration, clock: &Clock) -> Result<()> {
    sqlx::query("INSERT INTO schema_migrations (number, name, checksum, applied_at) VALUES ($1, $2, $3, $4)")
        .bind(migration.number)
        .bind(migration.name)
        .bind(checksum_of(migration))
        .bind(clock.now().as_milliseconds())
        .execute(connection)
        .await?;
    Ok(())
}

fn checksum_of(migration: &Migration) -> String {
    Digest::of(migration.up.as_bytes()).to_string()
}
