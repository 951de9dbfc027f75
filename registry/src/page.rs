//! Pages of lists. The position is an offset into a total order, so that the wire's integer token is enough.

/// Which part of a list is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Page {
    /// At most this many items.
    pub limit: u32,
    /// Items to pass over: 0, or the `next` of the slice before.
    pub offset: u64,
}

impl Page {
    pub const fn first(limit: u32) -> Self {
        Self { limit, offset: 0 }
    }
}

/// Part of a list, with the position of the rest if there is any.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Slice<T> {
    pub items: Vec<T>,
    pub next: Option<u64>,
}

impl<T> Slice<T> {
    /// Cuts to the page's limit what was read with one item more than the limit.
    pub(crate) fn cut(mut items: Vec<T>, page: Page) -> Self {
        let limit = page.limit as usize;
        let more = items.len() > limit;
        items.truncate(limit);
        let next = more.then(|| page.offset.saturating_add(u64::from(page.limit)));
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
