//! Prompts and resources as lists of the protocol: first the tools of the agent that are ones, then the items of the Library.

use registry::{Digest, LibraryItem};
use rmcp::ErrorData;
use rmcp::model::{Cursor, PaginatedRequestParams};
use runner::{ListedSource, ListedTool};

use super::library_items::LibraryItems;
use super::pages;

/// The whole list.
pub(super) struct MixedList<'c> {
    pub tools: Vec<&'c ListedTool>,
    /// `None` for an agent without the family.
    pub items: Option<LibraryItems>,
}

/// A page of it.
pub(super) struct MixedPage<'c> {
    pub tools: Vec<&'c ListedTool>,
    pub items: Vec<LibraryItem>,
    pub next_cursor: Option<Cursor>,
}

impl<'c> MixedList<'c> {
    /// Finds the item with a name. It comes before a tool of that name.
    pub async fn named(&self, name: &str) -> Result<Option<LibraryItem>, ErrorData> {
        match &self.items {
            Some(items) => items.named(name).await,
            None => Ok(None),
        }
    }

    /// Returns the page after the cursor of a request.
    pub async fn page(&self, request: Option<PaginatedRequestParams>) -> Result<MixedPage<'c>, ErrorData> {
        let revisions = match &self.items {
            Some(items) => items.revisions().await?,
            None => Vec::new(),
        };
        let tools = digest_of(&self.tools);
        let digest = match &self.items {
            Some(items) => items.digest_of(&revisions, &tools),
            None => tools,
        };
        let start = pages::start(request, &digest)?;
        let tools: Vec<_> = self.tools.iter().copied().skip(start).take(pages::PAGE_ITEMS).collect();
        let items = match &self.items {
            Some(items) if tools.len() < pages::PAGE_ITEMS => {
                items.range(start.saturating_sub(self.tools.len()), pages::PAGE_ITEMS - tools.len()).await?
            }
            _ => Vec::new(),
        };
        let next_cursor = pages::next(start + tools.len() + items.len(), self.tools.len() + revisions.len(), &digest);
        Ok(MixedPage { tools, items, next_cursor })
    }
}

/// Returns a digest that changes with the tools and their versions.
pub(super) fn digest_of(tools: &[&ListedTool]) -> Digest {
    let lines = tools.iter().map(|listed| match &listed.source {
        ListedSource::Native(_) => listed.name.clone(),
        ListedSource::Published { callable, .. } => {
            format!("{} {} {}", listed.name, callable.version.id, callable.tool.updated_at.as_milliseconds())
        }
    });
    Digest::of(lines.collect::<Vec<_>>().join("\n").as_bytes())
}
