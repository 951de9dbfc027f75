//! Prompts and resources as lists of the protocol: first the tools of the agent that are ones, then the items of the Library.

use agents::{LibraryFamily, LibraryItem, ListedSource, ListedTool};
use registry::{AgentId, Digest, HeapBytes, LibraryItemId};
use rmcp::ErrorData;
use rmcp::model::{Cursor, PaginatedRequestParams};

use super::library_items::LibraryItems;
use super::pages::{self, Position};

/// Bytes of the items of a page, of which each may have a long description and many variables.
const PAGE_BYTES_MAX: usize = 1 << 20;

/// The whole list.
pub struct MixedList<'c> {
    /// The agent and the family, whose name is that of the list, too: a cursor is bound to both.
    pub agent: AgentId,
    pub family: LibraryFamily,
    pub tools: Vec<&'c ListedTool>,
    /// `None` for an agent without the family.
    pub items: Option<LibraryItems>,
}

/// A page of it.
pub struct MixedPage<'c> {
    pub tools: Vec<&'c ListedTool>,
    /// Without their contents.
    pub items: Vec<LibraryItem>,
    pub next_cursor: Option<Cursor>,
}

impl<'c> MixedList<'c> {
    /// Finds the item with a name. It comes before a tool of that name.
    pub async fn find_item(&self, name: &str) -> Result<Option<LibraryItem>, ErrorData> {
        match &self.items {
            Some(items) => items.find_item(name).await,
            None => Ok(None),
        }
    }

    /// Returns an item with its content; `None` for one that was deleted meanwhile.
    pub async fn read_item(&self, id: &LibraryItemId) -> Result<Option<LibraryItem>, ErrorData> {
        match &self.items {
            Some(items) => items.read_item(id).await,
            None => Ok(None),
        }
    }

    /// Returns the digest to which cursors are bound: that of the list's agent, its family, its tools and its items.
    async fn compute_digest(&self) -> Result<Digest, ErrorData> {
        let names = format!("{} {} {}", self.agent, self.family.as_str(), digest_tools(&self.tools).to_hex());
        let tools = Digest::of(names.as_bytes());
        match &self.items {
            Some(items) => items.read_digest_after(&tools).await,
            None => Ok(tools),
        }
    }

    /// Returns the page after the cursor of a request. The items of a page are read by their index, and none before or after them.
    pub async fn read_page(&self, request: Option<PaginatedRequestParams>) -> Result<MixedPage<'c>, ErrorData> {
        let digest = self.compute_digest().await?;
        let (start, after) = match pages::parse_position(request, &digest)? {
            Position::Start(start) => (start, None),
            Position::After(item) => (self.tools.len(), Some(item)),
        };
        let tools: Vec<_> = self.tools.iter().copied().skip(start).take(pages::PAGE_ITEMS).collect();
        let Some(items) = &self.items else {
            let next_cursor = pages::build_next_cursor(start + tools.len(), self.tools.len(), &digest);
            return Ok(MixedPage { tools, items: Vec::new(), next_cursor });
        };
        // One item more than the page has shows whether there are others.
        let count = pages::PAGE_ITEMS - tools.len();
        let mut items = items.read_page(after.as_ref(), count + 1).await?;
        let fitting = count_fitting(items.iter().take(count).map(|item| item.body.heap_bytes()));
        let has_more = items.len() > fitting || start + tools.len() < self.tools.len();
        items.truncate(fitting);
        let next_cursor = has_more.then(|| match items.last() {
            Some(last) => pages::build_cursor_after(&last.id, &digest),
            None => pages::build_cursor_at(start + tools.len(), &digest),
        });
        Ok(MixedPage { tools, items, next_cursor })
    }
}

/// Returns how many items of these sizes fit a page: at least one, if there are any.
fn count_fitting(sizes: impl Iterator<Item = usize>) -> usize {
    let mut bytes = 0;
    let fits = |size: &usize| {
        let has_room = bytes < PAGE_BYTES_MAX;
        bytes += size;
        has_room
    };
    sizes.take_while(fits).count()
}

/// Returns a digest that changes with the tools and their versions.
pub fn digest_tools(tools: &[&ListedTool]) -> Digest {
    let lines = tools.iter().map(|listed| match &listed.source {
        ListedSource::Native(_) => listed.name.clone(),
        ListedSource::Published { callable, .. } => {
            format!("{} {} {}", listed.name, callable.version.id, callable.tool.updated_at.as_milliseconds())
        }
    });
    Digest::of(lines.collect::<Vec<_>>().join("\n").as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(agent: &str, family: LibraryFamily) -> MixedList<'static> {
        MixedList { agent: AgentId::parse(agent).unwrap(), family, tools: Vec::new(), items: None }
    }

    #[test]
    fn a_page_ends_with_the_item_that_fills_it() {
        let half = PAGE_BYTES_MAX / 2;
        for (sizes, expected) in [
            (vec![], 0),
            (vec![1, 1, 1], 3),
            (vec![half, half, 1], 2),
            (vec![half, half - 1, 1, 1], 3),
            (vec![3 * half, 1], 1),
        ] {
            assert_eq!(count_fitting(sizes.iter().copied()), expected, "{sizes:?}");
        }
    }

    /// Lists of tools alone, without items of the Library.
    #[tokio::test]
    async fn a_cursor_belongs_to_the_list_of_one_agent() {
        let (one, other) = ("6b087fb88c8b71fedaf8732b", "6b087fb88c8b71fedaf8732c");
        let prompts = list(one, LibraryFamily::Prompts);
        let cursor = pages::build_cursor_at(0, &prompts.compute_digest().await.unwrap());
        let request = || Some(PaginatedRequestParams::default().with_cursor(Some(cursor.clone())));
        assert!(prompts.read_page(request()).await.is_ok());
        for wrong in [list(one, LibraryFamily::Artifacts), list(other, LibraryFamily::Prompts)] {
            assert!(wrong.read_page(request()).await.is_err());
        }
    }
}
