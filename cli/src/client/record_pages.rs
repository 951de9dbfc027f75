//! Pages of records, one after another, with each record as the server wrote it.

use serde::Deserialize;
use serde_json::value::RawValue;

use super::invocations::{HistoryFilter, PAGE_LIMIT_MAX, build_list_call};
use super::refusal::explain_unexpected;
use super::request::{Call, Client};

/// The pages of a list of records. Only one page is in memory.
pub struct RecordPages<'client> {
    client: &'client Client,
    call: Call<'static>,
    /// The token of the next page; `None` after the last one.
    token: Option<u64>,
}

#[derive(Deserialize)]
struct Page {
    tool_invocations: Vec<Box<RawValue>>,
    continuation_token: Option<u64>,
}

impl Client {
    /// Lists records page by page, newest first.
    pub fn list_record_pages(&self, filter: &HistoryFilter) -> RecordPages<'_> {
        RecordPages { client: self, call: build_list_call(filter).query("limit", PAGE_LIMIT_MAX), token: Some(0) }
    }
}

impl RecordPages<'_> {
    /// Returns the records of the next page, or `None` after the last page.
    pub async fn next(&mut self) -> anyhow::Result<Option<Vec<Box<RawValue>>>> {
        let Some(token) = self.token else { return Ok(None) };
        let text = self.client.get_text(self.call.clone().query("continuation_token", token)).await?;
        let page: Page = serde_json::from_str(&text).map_err(|error| explain_unexpected("the server", error))?;
        self.token = page.continuation_token;
        Ok(Some(page.tool_invocations))
    }
}
