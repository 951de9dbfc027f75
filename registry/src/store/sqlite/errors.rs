//! The errors of SQLite, as the store reports them.

use sqlx::error::DatabaseError;

use crate::error::Error;
use crate::store::database::{Failure, FailureKind};

/// The primary result code within an extended result code.
const PRIMARY_BITS: u32 = 0xff;

pub(super) fn to_failure(error: sqlx::Error) -> Failure {
    let kind = match error.as_database_error() {
        Some(found) if found.is_unique_violation() => FailureKind::Conflict,
        Some(found) if is_interrupted(found) => FailureKind::TooSlow,
        _ => FailureKind::Other,
    };
    Failure { kind, error: translate(error) }
}

fn translate(error: sqlx::Error) -> Error {
    let detail = error.to_string();
    match &error {
        sqlx::Error::PoolClosed => Error::Closed,
        sqlx::Error::PoolTimedOut => Error::DatabaseBusy { detail },
        sqlx::Error::Io(_) | sqlx::Error::WorkerCrashed => Error::StorageFailing { detail },
        sqlx::Error::Database(found) => from_code(find_primary_code(&**found), detail)
            .unwrap_or_else(|| Error::Database { source: Box::new(error) }),
        _ => Error::Database { source: Box::new(error) },
    }
}

/// Maps SQLite's primary result codes.
fn from_code(code: Option<u32>, detail: String) -> Option<Error> {
    const BUSY: u32 = 5;
    const LOCKED: u32 = 6;
    const READ_ONLY: u32 = 8;
    const IO_ERROR: u32 = 10;
    const CORRUPT: u32 = 11;
    const FULL: u32 = 13;
    const CANNOT_OPEN: u32 = 14;
    const NOT_A_DATABASE: u32 = 26;
    match code? {
        BUSY | LOCKED => Some(Error::DatabaseBusy { detail }),
        READ_ONLY | IO_ERROR | FULL | CANNOT_OPEN => Some(Error::StorageFailing { detail }),
        CORRUPT | NOT_A_DATABASE => Some(Error::Corrupt { what: "database", detail }),
        _ => None,
    }
}

/// Whether a progress handler stopped the statement.
fn is_interrupted(error: &dyn DatabaseError) -> bool {
    const INTERRUPTED: u32 = 9;
    find_primary_code(error) == Some(INTERRUPTED)
}

fn find_primary_code(error: &dyn DatabaseError) -> Option<u32> {
    error.code()?.parse::<u32>().ok().map(|code| code & PRIMARY_BITS)
}
