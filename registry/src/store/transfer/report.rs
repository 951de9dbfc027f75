//! The progress and the results of a copy.

use crate::kit::digest::Digest;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransferStep {
    Copy,
    Compare,
}

/// A part of a table is done.
#[derive(Clone, Copy, Debug)]
pub struct TransferProgress {
    pub step: TransferStep,
    pub table: &'static str,
    /// Rows of the table that are done.
    pub rows: u64,
    /// Whether the whole table is done.
    pub is_complete: bool,
}

/// Receives the progress of a copy.
pub type TransferObserver<'r> = &'r (dyn Fn(TransferProgress) + Send + Sync);

/// Number of rows in a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TableCount {
    pub table: &'static str,
    /// Rows in the data directory.
    pub source_rows: u64,
    /// Rows in the database server.
    pub target_rows: u64,
}

/// A table that is the same in both databases.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ComparedTable {
    pub table: &'static str,
    pub rows: u64,
    /// The digest of all rows in the order of their keys.
    pub digest: Digest,
}
