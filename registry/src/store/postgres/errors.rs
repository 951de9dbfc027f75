//! The errors of Postgres, as the store reports them.

use std::io::ErrorKind;

use sqlx::error::DatabaseError;

use crate::error::Error;
use crate::store::database::{Failure, FailureKind};

/// A statement ran longer than its limit, or was cancelled.
const QUERY_CANCELED: &str = "57014";

pub(super) fn to_failure(error: sqlx::Error) -> Failure {
    let kind = match error.as_database_error() {
        Some(found) if found.is_unique_violation() => FailureKind::Conflict,
        Some(found) if found.code().as_deref() == Some(QUERY_CANCELED) => FailureKind::TooSlow,
        _ => FailureKind::Other,
    };
    Failure { kind, error: translate(error) }
}

/// The failure of a statement whose connection was lost before.
pub(super) fn not_connected() -> Failure {
    Error::DatabaseUnavailable { detail: "the connection was lost".to_owned() }.into()
}

/// The failure of a new connection. rustls reports a certificate that it refuses as invalid data.
pub(super) fn to_connection_failure(error: sqlx::Error) -> Failure {
    let is_of_tls = match &error {
        sqlx::Error::Tls(_) => true,
        sqlx::Error::Io(error) => matches!(error.kind(), ErrorKind::InvalidData | ErrorKind::NotFound),
        _ => false,
    };
    if !is_of_tls {
        return to_failure(error);
    }
    let detail = format!("{error}; `sslmode` and `sslrootcert` in the URL say which server is trusted");
    Error::DatabaseUnavailable { detail }.into()
}

fn translate(error: sqlx::Error) -> Error {
    let detail = error.to_string();
    match &error {
        sqlx::Error::PoolClosed => Error::Closed,
        sqlx::Error::PoolTimedOut => Error::DatabaseBusy { detail },
        sqlx::Error::Io(_) | sqlx::Error::Tls(_) | sqlx::Error::Protocol(_) | sqlx::Error::WorkerCrashed => {
            Error::DatabaseUnavailable { detail }
        }
        sqlx::Error::Database(found) => {
            from_code(&**found, detail).unwrap_or_else(|| Error::Database { source: Box::new(error) })
        }
        _ => Error::Database { source: Box::new(error) },
    }
}

/// Maps the codes of Postgres, the first two characters of which are a class.
fn from_code(error: &dyn DatabaseError, detail: String) -> Option<Error> {
    let code = error.code()?;
    match code.as_ref() {
        // The disk is full, the memory is used up, an error of the disk, a replica that takes no writes.
        "53100" | "53200" | "58030" | "25006" => Some(Error::StorageFailing { detail }),
        // A lock that was not free in time, a deadlock, two transactions that cannot both commit, too many connections.
        "55P03" | "40P01" | "40001" | "53300" | QUERY_CANCELED => Some(Error::DatabaseBusy { detail }),
        "XX001" | "XX002" => Some(Error::Corrupt { what: "database", detail }),
        "42501" => Some(Error::DatabaseRightMissing { detail }),
        // The server shuts down or starts, a transaction that paused for too long.
        "57P01" | "57P02" | "57P03" | "57P05" | "25P02" | "25P03" => Some(Error::DatabaseUnavailable { detail }),
        // Connection errors, wrong credentials, and an unknown database.
        code if ["08", "28", "3D"].iter().any(|class| code.starts_with(class)) => {
            Some(Error::DatabaseUnavailable { detail })
        }
        _ => None,
    }
}
