//! Pages of lists. A page begins after a row, not after a number of rows. Rows that are added between two pages therefore
//! shift nothing, and each row that existed at the first page is shown exactly once.

/// The requested part of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Page {
    /// Maximum number of items.
    pub limit: u32,
    /// 0 for the first page, or the `next` of the previous slice.
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

/// Part of a list, with the token of the next page if there is one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Slice<T> {
    pub items: Vec<T>,
    pub next: Option<u64>,
}

impl<T> Slice<T> {
    /// Cuts a list that was read with one item more than the page's limit. No page follows one with limit 0.
    pub fn cut(mut items: Vec<T>, page: Page, token: impl FnOnce(&T) -> u64) -> Self {
        let limit = page.limit as usize;
        let more = items.len() > limit;
        items.truncate(limit);
        let next = if more { items.last().map(token) } else { None };
        Self { items, next }
    }

    pub fn map<U>(self, change: impl FnMut(T) -> U) -> Slice<U> {
        Slice { items: self.items.into_iter().map(change).collect(), next: self.next }
    }
}

/// The direction of a sort order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    Ascending,
    Descending,
}
