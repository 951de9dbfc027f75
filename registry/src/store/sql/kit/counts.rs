//! Checks of numbers of rows.

use crate::error::{Error, Result};

/// Fails when a statement has changed no row.
pub const fn require_changed(rows: u64, what: &'static str) -> Result<()> {
    if rows == 0 { Err(Error::NotFound { what }) } else { Ok(()) }
}

/// Fails when the rows, with a new one, exceed a limit.
pub const fn require_within(limit: u64, rows: i64, what: &'static str) -> Result<()> {
    if rows.unsigned_abs() > limit { Err(Error::TooMany { what, limit }) } else { Ok(()) }
}
