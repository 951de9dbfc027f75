//! Applying missing migrations, in one transaction, with their checksums.

use super::row::get;
use crate::clock::Clock;
use crate::digest::Digest;
use crate::error::{Error, Result};
use crate::store::database::{Connection, Query};
use migrations::{Migration, Migrations};

/// Applies missing migrations. Refuses a database of a newer release, and migrations that were changed after they were
/// applied.
pub(in crate::store) async fn migrate(
    connection: &mut Connection,
    migrations: &Migrations,
    clock: &Clock,
) -> Result<()> {
    script(connection, "{begin alone}").await?;
    let applied = apply_missing(connection, migrations, clock).await;
    let end = if applied.is_ok() { "COMMIT" } else { "ROLLBACK" };
    let ended = script(connection, end).await;
    applied.and(ended)
}

async fn apply_missing(connection: &mut Connection, migrations: &Migrations, clock: &Clock) -> Result<()> {
    script(connection, migrations.table).await?;
    let applied = applied(connection).await?;
    check_known(&applied, migrations.list)?;
    for migration in migrations.list.iter().skip(applied.len()) {
        script(connection, migration.up).await?;
        record(connection, migration, clock).await?;
    }
    Ok(())
}

/// Returns the numbers and checksums of the applied migrations, in order.
pub(in crate::store) async fn applied(connection: &mut Connection) -> Result<Vec<(u32, String)>> {
    let query = Query::new("SELECT number, checksum FROM schema_migrations ORDER BY number");
    let rows = query.fetch_all(connection).await?;
    rows.iter().map(|row| Ok((get(row, "number")?, get(row, "checksum")?))).collect()
}

fn check_known(applied: &[(u32, String)], list: &[Migration]) -> Result<()> {
    let known = list.last().map_or(0, |migration| migration.number);
    if let Some((found, _)) = applied.last().filter(|(number, _)| *number > known) {
        return Err(Error::DatabaseNewer { found: *found, known });
    }
    let changed = applied
        .iter()
        .zip(list)
        .find(|((number, checksum), migration)| *number != migration.number || *checksum != checksum_of(migration));
    changed.map_or(Ok(()), |(_, migration)| Err(Error::MigrationChanged { number: migration.number }))
}

async fn record(connection: &mut Connection, migration: &Migration, clock: &Clock) -> Result<()> {
    Query::new("INSERT INTO schema_migrations (number, name, checksum, applied_at) VALUES ($1, $2, $3, $4)")
        .bind(migration.number)
        .bind(migration.name)
        .bind(checksum_of(migration))
        .bind(clock.now().as_milliseconds())
        .execute(connection)
        .await?;
    Ok(())
}

/// Runs statements without values.
async fn script(connection: &mut Connection, statements: &'static str) -> Result<()> {
    connection.run_all(vec![Query::new(statements)]).await?;
    Ok(())
}

fn checksum_of(migration: &Migration) -> String {
    Digest::of(migration.up.as_bytes()).to_string()
}
