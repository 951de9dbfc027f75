//! Paged lists.

use api::wire::ListPage;
use serde_json::Value;

use super::decoded_response::read;
use super::request::{Call, Client};

impl Client {
    /// Returns the items of all pages, as the server wrote them.
    pub(super) async fn read_all_pages<List: ListPage>(&self, call: Call<'_>) -> anyhow::Result<Vec<Value>> {
        Ok(self.read_pages_while::<List>(call, |_| true).await?.0)
    }

    /// Reads pages while `needs_more` of the items so far. Returns the items, and whether there are more pages.
    pub(super) async fn read_pages_while<List: ListPage>(
        &self,
        call: Call<'_>,
        needs_more: impl Fn(&[Value]) -> bool,
    ) -> anyhow::Result<(Vec<Value>, bool)> {
        let (mut items, mut token) = (Vec::new(), 0);
        loop {
            let page: Value = self.get(call.clone().query("continuation_token", token)).await?.body;
            items.extend(read::<Vec<Value>>(&page[List::ITEMS])?);
            match page["continuation_token"].as_u64().filter(|next| *next != token) {
                Some(next) if needs_more(&items) => token = next,
                next => return Ok((items, next.is_some())),
            }
        }
    }
}
