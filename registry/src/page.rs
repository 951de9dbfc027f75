//! Pages of lists. A page begins behind a row and not behind a count of rows, so that rows which come in meanwhile
//! move nothing: what was there when the first page was read is shown once.

/// Which part of a list is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Page {
    /// At most this many items.
    pub limit: u32,
    /// 0, or the `next` of the slice before.
    pub token: u64,
}

impl Page {
    pub const fn first(limit: u32) -> Self {
        Self { limit, token: 0 }
    }

    pub const fn is_first(self) -> bool {
        self.token == 0
    }
}

/// Part of a list, with the token of the rest if there is any.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Slice<T> {
    pub items: Vec<T>,
    pub next: Option<u64>,
}

impl<T> Slice<T> {
    /// Cuts to the page's limit what was read with one item more than the limit. A page without room for an item is
    /// followed by itself.
    pub(crate) fn cut(items: Vec<T>, page: Page, token: impl FnOnce(&T) -> u64) -> Self {
        Self::cut_to(items, usize::MAX, page, token)
    }

    /// As [`Slice::cut`], for a page that may have room for fewer than its limit.
    pub(crate) fn cut_to(mut items: Vec<T>, room: usize, page: Page, token: impl FnOnce(&T) -> u64) -> Self {
        let limit = room.min(page.limit as usize);
        let more = items.len() > limit;
        items.truncate(limit);
        let next = more.then(|| items.last().map_or(page.token, token));
        Self { items, next }
    }

    pub fn has_more(&self) -> bool {
        self.next.is_some()
    }

    pub fn map<U>(self, change: impl FnMut(T) -> U) -> Slice<U> {
        Slice { items: self.items.into_iter().map(change).collect(), next: self.next }
    }
}

/// Which way a list is sorted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    Ascending,
    Descending,
}
