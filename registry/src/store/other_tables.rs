//! Tables of another crate in the database of the store.

use super::changes::Change;
use super::database::Connection;
use super::queued::Writing;
use crate::kit::account::{AccountId, OrganizationId};
use crate::kit::clock::Timestamp;

/// An account that is removed with its user.
#[derive(Clone, Copy)]
pub struct AccountEnd<'a> {
    pub organization: &'a OrganizationId,
    pub account: &'a AccountId,
    pub now: Timestamp,
}

/// Tables of another crate, with what it keeps of rows in memory.
pub trait OtherTables: Send + Sync {
    /// Ends what acts for an account and deletes what it alone reads, in the transaction that removes the account, before it is removed.
    fn end_account<'c>(&'c self, connection: &'c mut Connection, end: AccountEnd<'c>) -> Writing<'c, ()>;

    /// Drops the rows that a change names from memory. The caller of the write has its result afterwards.
    fn drop_changed(&self, change: &Change);

    /// Drops everything from memory, after changes may have been missed.
    fn drop_everything(&self);
}
