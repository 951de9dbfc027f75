//! The partitions of the history by month. The id of a run begins with the second of its start, so a month is a range of ids.

use jiff::civil::Date;
use jiff::tz::TimeZone;

use crate::error::{Error, Result};
use crate::kit::clock::Timestamp;
use crate::store::database::{Connection, Query};

/// Months whose partitions exist ahead of time.
const AHEAD: i32 = 3;

/// Tables that are partitioned.
pub(super) const TABLES: [&str; 2] = ["inv_started", "inv_finished"];

/// Locks the tables in the order in which the writer does. A partition needs both, because of the foreign key between them.
const LOCK: &str = "LOCK TABLE inv_started, inv_finished IN ACCESS EXCLUSIVE MODE";

/// Creates the missing partitions of this month and of the next ones. Without one, rows go to the partition for all others.
pub(super) async fn create_months(connection: &mut Connection, now: Timestamp) -> Result<()> {
    let mut month = find_month(now)?;
    for _ in 0..=AHEAD {
        month = create_month(connection, month).await?;
    }
    Ok(())
}

/// Creates the missing partitions of the month of a run. Returns the text with which the ids of later months begin.
pub(in crate::store) async fn create_month_of(connection: &mut Connection, run: &str) -> Result<String> {
    let second = run.get(..8).and_then(|second| i64::from_str_radix(second, 16).ok());
    let second = second.ok_or_else(|| Error::Corrupt { what: "invocation", detail: format!("the id {run}") })?;
    let month = find_month(Timestamp::from_milliseconds(second.saturating_mul(1000)))?;
    build_id(create_month(connection, month).await?)
}

/// Returns the next month.
async fn create_month(connection: &mut Connection, month: Date) -> Result<Date> {
    let next = month.saturating_add(jiff::Span::new().months(1));
    for table in TABLES {
        create(connection, table, month..next).await?;
    }
    Ok(next)
}

async fn create(connection: &mut Connection, table: &str, month: std::ops::Range<Date>) -> Result<()> {
    let name = format!("{table}_{:04}_{:02}", month.start.year(), month.start.month());
    let exists = Query::new("SELECT to_regclass($1) IS NOT NULL AS found").bind(name.as_str());
    if exists.fetch_column("found", &mut *connection).await? {
        return Ok(());
    }
    let (first, end) = (build_id(month.start)?, build_id(month.end)?);
    let text =
        format!("CREATE TABLE IF NOT EXISTS {name} PARTITION OF {table} FOR VALUES FROM ('{first}') TO ('{end}')");
    // Another server may be creating it.
    let create = Query { text: text.into(), values: Vec::new() };
    let statements = vec![Query::new("{begin alone}"), Query::new(LOCK), create, Query::new("COMMIT")];
    let created = connection.run_all(statements).await;
    if let Err(failure) = created {
        tracing::error!(partition = name, error = %failure.error, "a partition of the history cannot be created");
        connection.run_all(vec![Query::new("ROLLBACK")]).await?;
    }
    Ok(())
}

fn find_month(now: Timestamp) -> Result<Date> {
    let instant = jiff::Timestamp::from_millisecond(now.as_milliseconds()).map_err(unexpected)?;
    Ok(instant.to_zoned(TimeZone::UTC).date().first_of_month())
}

/// The first eight characters of the ids from a day on.
fn build_id(day: Date) -> Result<String> {
    let midnight = day.to_zoned(TimeZone::UTC).map_err(unexpected)?;
    Ok(format!("{:08x}", midnight.timestamp().as_second()))
}

fn unexpected(error: jiff::Error) -> Error {
    Error::Database { source: Box::new(error) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_month_is_a_range_of_ids() {
        let month = find_month(Timestamp::from_milliseconds(1_795_341_084_941)).unwrap();
        assert_eq!(month, jiff::civil::date(2026, 11, 1));
        assert_eq!(build_id(month).unwrap(), format!("{:08x}", 1_793_491_200));
    }
}
