//! The bytes and the rows that owners and organisations have in the Library. Triggers of the database keep the numbers, whoever writes.

use registry::Result;
use registry::statements::{Connection, Query, get, read_unsigned, require_within};

use super::shelf::LibraryShelf;
use crate::config::StoreConfig;
use crate::domain::library::LibraryScope;
use crate::error::Error;

const USAGE: &str = "SELECT owner, bytes, items FROM library_usage WHERE organization = $1 AND owner IN ('', $2)";

/// The limits of the Library of an organisation, and of each owner in it.
#[derive(Clone, Copy)]
pub(super) struct LibraryLimits {
    items_max: [u64; 2],
    bytes_max: [u64; 2],
}

/// What an owner and the organisation have: first the owner.
#[derive(Clone, Copy, Default)]
pub(super) struct LibraryUsage {
    items: [u64; 2],
    bytes: [u64; 2],
}

impl LibraryLimits {
    pub const fn of(config: &StoreConfig) -> Self {
        Self {
            items_max: [config.library_user_items_max, config.library_items_max],
            bytes_max: [config.library_user_bytes_max, config.library_bytes_max],
        }
    }

    /// Refuses a write after which there is more than there may be. One that leaves less than before is always admitted.
    pub fn require(&self, scope: &LibraryScope, before: LibraryUsage, after: LibraryUsage) -> Result<(), Error> {
        const ITEMS: [&str; 2] = [
            "items in the library of a user, with those that were deleted in the last 30 days",
            "items in the library of an organization, with those that were deleted in the last 30 days",
        ];
        for (index, what) in ITEMS.into_iter().enumerate() {
            if after.items[index] > before.items[index] {
                let items = i64::try_from(after.items[index]).unwrap_or(i64::MAX);
                require_within(self.items_max[index], items, what)?;
            }
            let (used, limit) = (before.bytes[index], self.bytes_max[index]);
            if after.bytes[index] > used && after.bytes[index] > limit {
                let whose = match index {
                    0 => "the user's items".to_owned(),
                    _ => format!("the items of the organization {}", scope.organization),
                };
                let added = after.bytes[index] - used;
                return Err(Error::LibraryFull { whose, used, added, limit });
            }
        }
        Ok(())
    }
}

impl LibraryUsage {
    pub async fn read(shelf: &LibraryShelf, connection: &mut Connection) -> Result<Self> {
        let LibraryScope { organization, account, .. } = &shelf.scope;
        let query = Query::new(USAGE).bind(organization.as_str()).bind(account.as_str());
        let mut usage = Self::default();
        for row in query.fetch_all(connection).await? {
            let index = usize::from(get::<&str>(&row, "owner")?.is_empty());
            (usage.items[index], usage.bytes[index]) = (read_unsigned(&row, "items")?, read_unsigned(&row, "bytes")?);
        }
        Ok(usage)
    }
}
