//! What can go wrong in the registry, folded into a few kinds.
//!
//! [`InvalidValue`] is what the parsers at the border answer; [`Error`] is what the store, the artifacts, the keys
//! and the data directory answer. Absence of a row that was only asked for is `Ok(None)`, not an error.

use std::path::PathBuf;
use std::time::Duration;

use crate::account::UserId;
use crate::build::Busy;
use crate::ids::{InvocationId, VersionId};
use crate::names::EnvvarName;
use crate::role::RoleName;
use crate::version::Version;

pub type Result<T, E = Error> = std::result::Result<T, E>;

/// A text that is not what it should be, with the rule that it breaks.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what} {reason}")]
pub struct InvalidValue {
    /// What was expected, as a noun: `tool name`.
    pub what: &'static str,
    /// The rule, as the rest of the sentence: `must be …`.
    pub reason: &'static str,
}

impl InvalidValue {
    pub const fn new(what: &'static str, reason: &'static str) -> Self {
        Self { what, reason }
    }
}

/// What a caller can do about an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ErrorKind {
    /// The thing does not exist, or belongs to another organisation.
    NotFound,
    /// Another thing or a running operation is in the way.
    Conflict,
    /// The request can never succeed as it is.
    Invalid,
    /// It may succeed later: the disk is full, the database is busy, the bound of a queue is reached.
    Unavailable,
    /// Stored bytes are not what was stored.
    Corrupt,
    /// A fault of ours or of the machine.
    Internal,
}

#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    #[error("{what} not found")]
    NotFound { what: &'static str },
    #[error("{what} `{name}` already exists")]
    Exists { what: &'static str, name: String },
    #[error(transparent)]
    Busy(#[from] Busy),
    #[error("the operation lost its hold on the tool: it took too long and another one began")]
    LeaseLost,
    #[error(
        "this commit was published as {version} a moment ago; an idempotency key, or another bump, publishes it again"
    )]
    PublishedAlready { version: Version, id: VersionId },
    #[error("invocation {invocation} is already finished")]
    AlreadyFinished { invocation: InvocationId },
    #[error(transparent)]
    Invalid(#[from] InvalidValue),
    #[error("the continuation token is not one that a page of this list gave")]
    PageTokenUnknown,
    #[error("variable `{name}` does not exist")]
    VariableUnknown { name: EnvvarName },
    #[error("variable `{name}` is still required by version {version}")]
    VariableRequired { name: EnvvarName, version: Version },
    #[error("the tool lacks required variables: {}", listed(.names))]
    VariablesMissing { names: Vec<EnvvarName> },
    #[error("user `{user}` does not exist")]
    UserUnknown { user: UserId },
    #[error("role `{name}` does not exist")]
    RoleUnknown { name: RoleName },
    #[error("role `{name}` is built in and stays as it is")]
    RoleBuiltIn { name: RoleName },
    #[error("role `{name}` is that of {users} users; give them another one first")]
    RoleInUse { name: RoleName, users: u64 },
    #[error("nobody with Organization:Admin and a key that has not ended would be left; give both to somebody first")]
    LastAdministrator,
    #[error("at most {limit} {what}")]
    TooMany { what: &'static str, limit: u64 },
    #[error("storage is full or failing: {detail}")]
    StorageFailing { detail: String },
    #[error("the database is busy: {detail}")]
    DatabaseBusy { detail: String },
    #[error("the list or the search took longer than {limit:?}")]
    QueryTooSlow { limit: Duration },
    #[error("the store is closed")]
    Closed,
    #[error("{what} is corrupt: {detail}")]
    Corrupt { what: &'static str, detail: String },
    #[error("{} is in use by process {pid}", .path.display())]
    DataDirectoryInUse { path: PathBuf, pid: String },
    #[error("{} can be read by others than its owner; its mode must be 0600", .path.display())]
    KeyFileExposed { path: PathBuf },
    #[error("{} is missing although a database exists; without it no stored variable can be read", .path.display())]
    KeyFileMissing { path: PathBuf },
    #[error("the database was written by a newer release (migration {found}, known {known})")]
    DatabaseNewer { found: u32, known: u32 },
    #[error("migration {number} differs from the one that this database has applied")]
    MigrationChanged { number: u32 },
    #[error("SQLite {found} is linked, at least {required} is needed")]
    SqliteTooOld { found: String, required: &'static str },
    #[error("{}", .path.display())]
    Io { path: PathBuf, source: std::io::Error },
    #[error("the database answered unexpectedly")]
    Database { source: Box<dyn std::error::Error + Send + Sync> },
}

impl Error {
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::NotFound { .. } => ErrorKind::NotFound,
            Self::Exists { .. } | Self::Busy(_) | Self::LeaseLost | Self::AlreadyFinished { .. } => ErrorKind::Conflict,
            Self::RoleInUse { .. } | Self::LastAdministrator => ErrorKind::Conflict,
            Self::UserUnknown { .. } | Self::RoleUnknown { .. } | Self::RoleBuiltIn { .. } => ErrorKind::Invalid,
            Self::PublishedAlready { .. } => ErrorKind::Conflict,
            Self::Invalid(_) | Self::VariableUnknown { .. } | Self::VariableRequired { .. } => ErrorKind::Invalid,
            Self::VariablesMissing { .. } | Self::TooMany { .. } | Self::PageTokenUnknown => ErrorKind::Invalid,
            Self::StorageFailing { .. } | Self::DatabaseBusy { .. } | Self::QueryTooSlow { .. } => {
                ErrorKind::Unavailable
            }
            Self::Closed => ErrorKind::Unavailable,
            Self::Corrupt { .. } => ErrorKind::Corrupt,
            Self::DataDirectoryInUse { .. } | Self::KeyFileExposed { .. } | Self::KeyFileMissing { .. } => {
                ErrorKind::Internal
            }
            Self::DatabaseNewer { .. } | Self::MigrationChanged { .. } | Self::SqliteTooOld { .. } => {
                ErrorKind::Internal
            }
            Self::Io { .. } | Self::Database { .. } => ErrorKind::Internal,
        }
    }

    /// A name that never changes, for clients and documentation.
    pub fn code(&self) -> &'static str {
        match self {
            Self::NotFound { .. } => "not_found",
            Self::Exists { .. } => "already_exists",
            Self::Busy(_) => "operation_in_progress",
            Self::LeaseLost => "lease_lost",
            Self::PublishedAlready { .. } => "already_published",
            Self::AlreadyFinished { .. } => "invocation_already_finished",
            Self::Invalid(_) => "invalid_value",
            Self::PageTokenUnknown => "page_token_unknown",
            Self::VariableUnknown { .. } => "variable_unknown",
            Self::VariableRequired { .. } => "variable_required",
            Self::VariablesMissing { .. } => "variables_missing",
            Self::UserUnknown { .. } => "user_unknown",
            Self::RoleUnknown { .. } => "role_unknown",
            Self::RoleBuiltIn { .. } => "role_built_in",
            Self::RoleInUse { .. } => "role_in_use",
            Self::LastAdministrator => "last_administrator",
            Self::TooMany { .. } => "too_many",
            Self::StorageFailing { .. } => "storage_failing",
            Self::DatabaseBusy { .. } => "database_busy",
            Self::QueryTooSlow { .. } => "query_too_slow",
            Self::Closed => "store_closed",
            Self::Corrupt { .. } => "corrupt",
            Self::DataDirectoryInUse { .. } => "data_directory_in_use",
            Self::KeyFileExposed { .. } => "key_file_exposed",
            Self::KeyFileMissing { .. } => "key_file_missing",
            Self::DatabaseNewer { .. } => "database_newer",
            Self::MigrationChanged { .. } => "migration_changed",
            Self::SqliteTooOld { .. } => "sqlite_too_old",
            Self::Io { .. } => "io",
            Self::Database { .. } => "database",
        }
    }
}

fn listed(names: &[EnvvarName]) -> String {
    names.iter().map(EnvvarName::as_str).collect::<Vec<_>>().join(", ")
}
