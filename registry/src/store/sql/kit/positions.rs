//! The start of a page of users, keys, holds, conversations or a log, and of lists that are no tables. A page begins after a position, because rows of these lists can be deleted.

use super::row::{get, to_signed};
use crate::error::{Error, Result};
use crate::kit::account::OrganizationId;
use crate::kit::page::Page;
use crate::store::database::Query;
use crate::store::handle::Store;

impl Store {
    /// Returns the position at which a page of a list begins that is no table: 0 for the first page. The names identify the list
    /// and its contents. [`Error::PageTokenUnknown`] for a token of another list, which also a changed list is.
    pub fn open_position(&self, list: &[&str], page: Page) -> Result<u64> {
        if page.is_first() {
            return Ok(0);
        }
        self.page_tokens().open(list, page.token).ok_or(Error::PageTokenUnknown)
    }

    /// Returns the token of the page that begins at a position of such a list.
    pub fn seal_position(&self, list: &[&str], position: u64) -> u64 {
        self.page_tokens().seal(list, position)
    }

    /// Returns the position after which a page begins, or `None` for the first page. The row at that position may be deleted.
    /// The statement `most` returns the highest position of the organisation `$1`, as `most`, which bounds valid positions.
    pub async fn find_last_shown(
        &self,
        organization: &OrganizationId,
        list: &[&str],
        page: Page,
        most: &'static str,
    ) -> Result<Option<u64>> {
        if page.is_first() {
            return Ok(None);
        }
        let position = self.page_tokens().open(list, page.token).ok_or(Error::PageTokenUnknown)?;
        let query = Query::new(most).bind(organization.as_str());
        let row = query.fetch_optional(self.readers()).await?;
        let most: Option<i64> = row.map(|row| get(&row, "most")).transpose()?;
        let was_there = most.is_some_and(|most| to_signed(position) <= most);
        if was_there { Ok(Some(position)) } else { Err(Error::PageTokenUnknown) }
    }
}
