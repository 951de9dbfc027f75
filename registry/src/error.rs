//! The errors of the registry, grouped into a few kinds.
//!
//! Parsers of outside input return [`InvalidValue`]. The store, the artifacts, the keys and the data directory return
//! [`Error`]. A look-up that finds no row returns `Ok(None)`, not an error.

use std::path::PathBuf;
use std::time::Duration;

use crate::access::RoleName;
use crate::kit::account::UserId;
use crate::kit::ids::{RunId, VersionId};
use crate::kit::invalid_value::InvalidValue;
use crate::tools::{EnvvarName, MissingVariable};
use crate::versions::{BranchName, Busy, Version};

pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The kind of an error, by the reaction that a caller can have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ErrorKind {
    /// The object does not exist, or belongs to another organisation.
    NotFound,
    /// The request conflicts with another object or with a running operation.
    Conflict,
    /// The request can never succeed as it is.
    Invalid,
    /// The request may succeed later: the disk is full, the database is busy, or a queue is full.
    Unavailable,
    /// Stored bytes are damaged.
    Corrupt,
    /// A fault of the program or of the machine.
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
    #[error("the operation lost its lease on the tool: it took too long, and another operation began")]
    LeaseLost,
    #[error(
        "{branch} has not moved since {version} was published from it a moment ago; push a commit, or choose another bump to \
         publish the same commit again"
    )]
    PublishedAlready { branch: BranchName, version: Version, id: VersionId },
    #[error("invocation {invocation} is already finished")]
    AlreadyFinished { invocation: RunId },
    #[error(transparent)]
    Invalid(#[from] InvalidValue),
    #[error("invalid continuation token: no page of this list returned it")]
    PageTokenUnknown,
    #[error("variable `{name}` does not exist")]
    VariableUnknown { name: EnvvarName },
    #[error("variable `{name}` is still required by version {version}")]
    VariableRequired { name: EnvvarName, version: Version },
    /// `tool` is the name or the id of the tool, for commands.
    #[error("{}", explain_missing(.missing, .tool))]
    VariablesMissing { tool: String, missing: Vec<MissingVariable> },
    #[error("user `{user}` does not exist")]
    UserUnknown { user: UserId },
    #[error("role `{name}` does not exist")]
    RoleUnknown { name: RoleName },
    #[error("role `{name}` is built in and cannot be changed")]
    RoleBuiltIn { name: RoleName },
    #[error("role `{name}` is assigned to {users} users; assign them another role first")]
    RoleInUse { name: RoleName, users: u64 },
    #[error("no user with Organization:Admin and a valid key would be left; give another user both first")]
    LastAdministrator,
    #[error("at most {limit} {what}")]
    TooMany { what: &'static str, limit: u64 },
    #[error("storage is full or failing: {detail}")]
    StorageFailing { detail: String },
    #[error("{url} cannot be the storage: {reason}")]
    StorageUnusable { url: String, reason: String },
    #[error("the database is busy: {detail}")]
    DatabaseBusy { detail: String },
    #[error("the database is unavailable: {detail}")]
    DatabaseUnavailable { detail: String },
    #[error(
        "the database user lacks a right: {detail}. Give it the right to create tables in its schema, for example with \
         `ALTER DATABASE … OWNER TO …`"
    )]
    DatabaseRightMissing { detail: String },
    #[error(
        "the database has the encoding {found}; create it with `CREATE DATABASE … ENCODING 'UTF8' TEMPLATE template0`"
    )]
    DatabaseEncoding { found: String },
    #[error("Postgres {found} is too old; at least version 15 is required")]
    PostgresTooOld { found: String },
    #[error("the database is a server; copy it with its own tools, such as pg_dump")]
    SnapshotOfServer,
    #[error("the list or the search took longer than {limit:?}")]
    QueryTooSlow { limit: Duration },
    #[error("the store is closed")]
    Closed,
    #[error("{what} is corrupt: {detail}")]
    Corrupt { what: &'static str, detail: String },
    /// A pack of a repository that servers share is missing or damaged.
    #[error("a pack of a git repository is damaged: {detail}")]
    PackDamaged { detail: String },
    #[error("{} is in use by process {pid}", .path.display())]
    DataDirectoryInUse { path: PathBuf, pid: String },
    #[error(
        "other users have access to {}, and its mode cannot be set to 0700: {reason}. \
         Run `chmod 700` as its owner, or use another directory", .path.display()
    )]
    DataDirectoryExposed { path: PathBuf, reason: String },
    #[error("other users can read {}. Set its mode to 0600 with `chmod 600`", .path.display())]
    KeyFileExposed { path: PathBuf },
    #[error("{} is missing although a database exists. Stored variables cannot be read without it; restore it from a backup", .path.display())]
    KeyFileMissing { path: PathBuf },
    #[error(
        "the master key is not the one of this database, whose secrets it cannot read. Copy keys/master.key from the data \
         directory of a server that works, or from a backup"
    )]
    MasterKeyWrong,
    #[error("the database was written by a newer release (migration {found}, known {known})")]
    DatabaseNewer { found: u32, known: u32 },
    #[error(
        "the database belongs to another program: {detail}. Name a database, or a schema with `?options=-csearch_path%3DSCHEMA`, \
         that lathe has to itself"
    )]
    DatabaseForeign { detail: String },
    #[error(
        "the database was written by an earlier release (migration {found}, known {known}). Start a server of this release \
         on the data directory once, and stop it"
    )]
    DatabaseOlder { found: u32, known: u32 },
    #[error("the database has other data: {detail}. Name an empty database")]
    TargetOccupied { detail: String },
    #[error(
        "table {table}: the copy differs from the data directory at {key}. Create the database anew and run the command again, \
         with all servers stopped"
    )]
    CopyDiffers { table: &'static str, key: String },
    #[error("`lathe migrate` has not finished copying to this database; run it again")]
    CopyIncomplete,
    #[error("table {table}: a text at {key} has the character U+0000, which Postgres cannot store")]
    NullCharacter { table: &'static str, key: String },
    #[error("migration {number} differs from the migration of that number that was applied to this database")]
    MigrationChanged { number: u32 },
    #[error("SQLite {found} is linked; at least {required} is required")]
    SqliteTooOld { found: String, required: &'static str },
    #[error(
        "a commit of the database would not survive a power failure: {detail}. Use a data directory on a local disk, since network \
         file systems often lack what SQLite's write-ahead log needs; or change the settings of the Postgres server"
    )]
    NotDurable { detail: String },
    #[error("{}", .path.display())]
    Io { path: PathBuf, source: std::io::Error },
    #[error("unexpected error of the database")]
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
            Self::DatabaseUnavailable { .. } => ErrorKind::Unavailable,
            Self::SnapshotOfServer => ErrorKind::Invalid,
            Self::DatabaseRightMissing { .. } | Self::DatabaseEncoding { .. } | Self::PostgresTooOld { .. } => {
                ErrorKind::Internal
            }
            Self::Closed => ErrorKind::Unavailable,
            Self::Corrupt { .. } | Self::PackDamaged { .. } => ErrorKind::Corrupt,
            Self::DataDirectoryExposed { .. }
            | Self::DataDirectoryInUse { .. }
            | Self::KeyFileExposed { .. }
            | Self::KeyFileMissing { .. }
            | Self::MasterKeyWrong => ErrorKind::Internal,
            Self::TargetOccupied { .. } => ErrorKind::Conflict,
            Self::CopyDiffers { .. } | Self::NullCharacter { .. } => ErrorKind::Corrupt,
            Self::CopyIncomplete | Self::DatabaseOlder { .. } => ErrorKind::Internal,
            Self::StorageUnusable { .. }
            | Self::DatabaseNewer { .. }
            | Self::DatabaseForeign { .. }
            | Self::MigrationChanged { .. }
            | Self::SqliteTooOld { .. }
            | Self::NotDurable { .. } => ErrorKind::Internal,
            Self::Io { .. } | Self::Database { .. } => ErrorKind::Internal,
        }
    }

    /// Returns the stable name of the error, for clients and documentation.
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
            Self::StorageUnusable { .. } => "storage_unusable",
            Self::DatabaseBusy { .. } => "database_busy",
            Self::DatabaseUnavailable { .. } => "database_unavailable",
            Self::DatabaseRightMissing { .. } => "database_right_missing",
            Self::DatabaseEncoding { .. } => "database_encoding",
            Self::PostgresTooOld { .. } => "postgres_too_old",
            Self::SnapshotOfServer => "snapshot_of_server",
            Self::QueryTooSlow { .. } => "query_too_slow",
            Self::Closed => "store_closed",
            Self::Corrupt { .. } => "corrupt",
            Self::PackDamaged { .. } => "repository_damaged",
            Self::DataDirectoryExposed { .. } => "data_directory_exposed",
            Self::DataDirectoryInUse { .. } => "data_directory_in_use",
            Self::KeyFileExposed { .. } => "key_file_exposed",
            Self::KeyFileMissing { .. } => "key_file_missing",
            Self::MasterKeyWrong => "master_key_wrong",
            Self::DatabaseNewer { .. } => "database_newer",
            Self::DatabaseForeign { .. } => "database_foreign",
            Self::DatabaseOlder { .. } => "database_older",
            Self::TargetOccupied { .. } => "target_occupied",
            Self::CopyDiffers { .. } => "copy_differs",
            Self::CopyIncomplete => "copy_incomplete",
            Self::NullCharacter { .. } => "null_character",
            Self::MigrationChanged { .. } => "migration_changed",
            Self::SqliteTooOld { .. } => "sqlite_too_old",
            Self::NotDurable { .. } => "not_durable",
            Self::Io { .. } => "io",
            Self::Database { .. } => "database",
        }
    }
}

fn explain_missing(missing: &[MissingVariable], tool: &str) -> String {
    missing.iter().map(|variable| variable.explain(tool).to_string()).collect::<Vec<_>>().join("; ")
}
