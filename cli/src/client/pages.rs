//! Lists that come in pages, followed to their end.

use reqwest::Method;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::request::{Call, Client, strange};

/// The most items that one page of users or keys holds.
const PAGE_ITEMS_MAX: u64 = 100;

impl Client {
    /// Every item of the list `field` at a path.
    pub(super) async fn all_pages(
        &self,
        path: &[&str],
        field: &str,
        filter: Option<(&'static str, &str)>,
    ) -> anyhow::Result<Vec<Value>> {
        let mut items = Vec::new();
        let mut token = 0;
        loop {
            let call = Call::new(Method::GET, path).query("limit", PAGE_ITEMS_MAX).query("continuation_token", token);
            let call = filter.into_iter().fold(call, |call, (name, value)| call.query(name, value));
            let mut page: Value = self.get(call).await?.body;
            items.extend(list(page[field].take())?);
            match page["continuation_token"].as_u64() {
                Some(next) if next != token => token = next,
                _ => return Ok(items),
            }
        }
    }
}

/// Reads a list of a document.
pub(super) fn list<T: DeserializeOwned>(value: Value) -> anyhow::Result<Vec<T>> {
    Ok(serde_json::from_value(value).map_err(|error| strange("the server", &error))?)
}
