//! Where a page of users or of keys begins: behind a position, as rows of these lists go and come.

use super::row::signed;
use crate::error::{Error, Result};
use crate::page::Page;
use crate::store::Store;

impl Store {
    /// The position behind which a page begins that is not the first. The row that stood there may be gone; but `most`,
    /// which tells the highest position of the organisation `$1`, bounds what can have been there.
    pub(super) async fn last_shown(&self, list: &[&str; 2], page: Page, most: &'static str) -> Result<Option<u64>> {
        if page.is_first() {
            return Ok(None);
        }
        let [_, organization] = list;
        let position = self.page_tokens().open(list, page.token).ok_or(Error::PageTokenUnknown)?;
        let query = sqlx::query_scalar(most).bind((*organization).to_owned());
        let most: Option<i64> = query.fetch_one(self.readers()).await?;
        let was_there = most.is_some_and(|most| signed(position) <= most);
        if was_there { Ok(Some(position)) } else { Err(Error::PageTokenUnknown) }
    }
}
