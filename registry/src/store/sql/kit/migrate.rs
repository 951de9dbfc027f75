//! Applying missing migrations, in one transaction, with their checksums.

use super::row::get;
use crate::error::{Error, Result};
use crate::kit::clock::Clock;
use crate::kit::digest::Digest;
use crate::store::database::{Connection, Query, SchemaState};
use migrations::{Migration, Migrations};

/// The table of applied migrations.
const TABLE: &str = "schema_migrations";

/// Returns the state of a schema with these tables. Refuses what [`migrate`] refuses, and a schema with tables of another program only.
pub(in crate::store) async fn inspect(
    connection: &mut Connection,
    tables: &[String],
    migrations: &Migrations,
) -> Result<SchemaState> {
    if !tables.iter().any(|table| table == TABLE) {
        return match tables.first() {
            None => Ok(SchemaState::Empty),
            Some(first) => {
                Err(Error::DatabaseForeign { detail: format!("it has the table {first}, and none of lathe") })
            }
        };
    }
    let applied = read_applied_by_lathe(connection).await?;
    check_known(&applied, migrations.list)?;
    let number = |last: Option<u32>| last.unwrap_or(0);
    let (applied, known) = (
        number(applied.last().map(|(number, _)| *number)),
        number(migrations.list.last().map(|migration| migration.number)),
    );
    Ok(if applied == known { SchemaState::Current { number: known } } else { SchemaState::Older { applied, known } })
}

/// Applies missing migrations. Refuses a database of a newer release, and migrations that were changed after they were
/// applied.
pub(in crate::store) async fn migrate(
    connection: &mut Connection,
    migrations: &Migrations,
    clock: &Clock,
) -> Result<()> {
    run_script(connection, "{begin alone}").await?;
    let applied = apply_missing(connection, migrations, clock).await;
    let end = if applied.is_ok() { "COMMIT" } else { "ROLLBACK" };
    let ended = run_script(connection, end).await;
    applied.and(ended)
}

async fn apply_missing(connection: &mut Connection, migrations: &Migrations, clock: &Clock) -> Result<()> {
    run_script(connection, migrations.table).await?;
    let applied = read_applied_by_lathe(connection).await?;
    check_known(&applied, migrations.list)?;
    for migration in migrations.list.iter().skip(applied.len()) {
        run_script(connection, migration.up).await?;
        record(connection, migration, clock).await?;
    }
    Ok(())
}

/// Returns the numbers and checksums of the applied migrations, in order.
pub(in crate::store) async fn read_applied(connection: &mut Connection) -> Result<Vec<(u32, String)>> {
    let query = Query::new("SELECT number, checksum FROM schema_migrations ORDER BY number");
    let rows = query.fetch_all(connection).await?;
    rows.iter().map(|row| Ok((get(row, "number")?, get(row, "checksum")?))).collect()
}

/// Like [`read_applied`]. Other programs have a table of this name, too, with other columns.
async fn read_applied_by_lathe(connection: &mut Connection) -> Result<Vec<(u32, String)>> {
    read_applied(connection).await.map_err(|error| match error {
        Error::Database { .. } => {
            Error::DatabaseForeign { detail: format!("its table {TABLE} has the migrations of another program") }
        }
        error => error,
    })
}

fn check_known(applied: &[(u32, String)], list: &[Migration]) -> Result<()> {
    let known = list.last().map_or(0, |migration| migration.number);
    if let Some((found, _)) = applied.last().filter(|(number, _)| *number > known) {
        return Err(Error::DatabaseNewer { found: *found, known });
    }
    let changed = applied.iter().zip(list).find(|((number, checksum), migration)| {
        *number != migration.number || *checksum != compute_checksum(migration)
    });
    changed.map_or(Ok(()), |(_, migration)| Err(Error::MigrationChanged { number: migration.number }))
}

async fn record(connection: &mut Connection, migration: &Migration, clock: &Clock) -> Result<()> {
    Query::new("INSERT INTO schema_migrations (number, name, checksum, applied_at) VALUES ($1, $2, $3, $4)")
        .bind(migration.number)
        .bind(migration.name)
        .bind(compute_checksum(migration))
        .bind(clock.now().as_milliseconds())
        .execute(connection)
        .await?;
    Ok(())
}

/// Runs statements without values.
async fn run_script(connection: &mut Connection, statements: &'static str) -> Result<()> {
    connection.run_all(vec![Query::new(statements)]).await?;
    Ok(())
}

fn compute_checksum(migration: &Migration) -> String {
    Digest::of(migration.up.as_bytes()).to_string()
}
