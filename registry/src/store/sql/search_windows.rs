//! The windows in which a search reads the full-text index, newest rows first, until it has found a page.
//!
//! They are for an index that finds the rows with a word in no order: without them, a search would read all rows with a
//! frequent word to find the last fifty. The index has the blocks that a row is in, one of each size, and a window is a few blocks
//! of one size. It is as large as the rest of the page needs if records go on to match as often as so far.

use super::row::get;
use crate::error::Result;
use crate::store::database::{Block, Database, Query, Window};
use crate::store::sql::listing::Listing;

/// The rows of the smallest blocks, as a power of two.
const SMALLEST: u32 = 9;
/// The blocks of one size that make one of the next, as a power of two.
const FACTOR: u32 = 3;
const SIZES: u32 = 6;

/// The blocks of a window, of which its last row may add another one.
const BLOCKS_MAX: i64 = 16;
/// The rows of the first window, and of the smallest.
const ROWS_MIN: i64 = 4096;
const ROWS_MAX: i64 = BLOCKS_MAX << bits(SIZES - 1);
/// How many times larger a window may be than the one before it.
const GROWTH_MAX: i64 = 64;

const NEWEST: &str = "SELECT rowid AS newest FROM inv_text ORDER BY rowid DESC LIMIT 1";

/// The windows that are still to be read.
#[derive(Clone, Debug)]
pub(in crate::store) struct Windows {
    before: i64,
    /// The rows of the next window; `None` for an index that is read at once.
    rows: Option<i64>,
    read: i64,
    found: i64,
}

impl Windows {
    /// Returns the windows of the rows before a position.
    pub async fn before(position: i64, database: &dyn Database, listing: &mut Listing) -> Result<Self> {
        if database.finds_in_order() {
            return Ok(Self { before: position, rows: None, read: 0, found: 0 });
        }
        let newest = listing.row(Query::new(NEWEST)).await?.map_or(Ok(0), |row| get::<i64>(&row, "newest"))?;
        Ok(Self::below(position.min(newest.saturating_add(1))))
    }

    const fn below(before: i64) -> Self {
        Self { before, rows: Some(ROWS_MIN), read: 0, found: 0 }
    }

    /// Returns the next window, until all rows are read.
    pub fn read_next(&mut self) -> Option<Window> {
        let before = self.before;
        let window = (before > 0).then(|| self.blocks());
        window.map(|(blocks, after)| {
            let rows = before - after;
            (self.before, self.read) = (after, self.read + rows);
            Window { blocks, before, rows }
        })
    }

    /// Returns the blocks of the next window, and its first row.
    fn blocks(&self) -> (Vec<Block>, i64) {
        let Some(rows) = self.rows else { return (Vec::new(), 0) };
        let size = (0..SIZES - 1).find(|size| rows <= BLOCKS_MAX << bits(*size)).unwrap_or(SIZES - 1);
        let (first, last) = ((self.before - rows).max(0) >> bits(size), (self.before - 1) >> bits(size));
        ((first..=last).map(|number| Block { size, number }).collect(), first << bits(size))
    }

    /// Chooses the size of the next window: the last one had some of the records, and others are left to find.
    pub fn adapt(&mut self, found: usize, left: usize) {
        let [found, left] = [found, left].map(|count| i64::try_from(count).unwrap_or(i64::MAX));
        self.found = self.found.saturating_add(found);
        let expected = self.read.saturating_mul(left).checked_div(self.found).unwrap_or(ROWS_MAX);
        // Some more, so that it suffices more often than not.
        let wanted = expected.saturating_add(expected / 2);
        self.rows = self.rows.map(|rows| wanted.clamp(ROWS_MIN, (rows * GROWTH_MAX).min(ROWS_MAX)));
    }
}

/// The rows of a block, as a power of two.
const fn bits(size: u32) -> u32 {
    SMALLEST + FACTOR * size
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Returns the blocks that a row is in, as the function of the database does.
    fn blocks_of(row: i64) -> [Block; SIZES as usize] {
        [0, 1, 2, 3, 4, 5].map(|size| Block { size, number: row >> (9 + 3 * size) })
    }

    /// Reads windows below a row, which have so many of the wanted records each.
    fn windows(before: i64, mut found: impl FnMut() -> usize) -> Vec<Window> {
        let mut windows = Windows::below(before);
        let mut read = Vec::new();
        while let Some(window) = windows.read_next() {
            read.push(window);
            windows.adapt(found(), 50);
        }
        read
    }

    fn starts(windows: &[Window]) -> Vec<i64> {
        windows.iter().map(|window| window.before).collect()
    }

    #[test]
    fn windows_grow_until_they_suffice() {
        assert_eq!(starts(&windows(10_000_001, || 0)), [10_000_001, 9_995_776, 9_732_096]);
        let tenth = starts(&windows(100_000, || 5));
        assert_eq!(tenth, [100_000, 95_744, 28_672], "1.5 times the rows that have fifty records");
        let frequent = starts(&windows(20_000, || 5_000));
        assert_eq!(frequent, [20_000, 15_872, 11_776, 7_680, 3_584], "no larger than needed");
        assert_eq!(windows(0, || 0).len(), 0);
        assert_eq!(windows(1 << 30, || 0).len(), 7);
    }

    proptest! {
        #[test]
        fn each_row_is_in_one_window(before in 1..1_i64 << 28, row in 0..1_i64 << 28, seed: u64) {
            let mut rng = fastrand::Rng::with_seed(seed);
            let windows = windows(before, || rng.usize(..50));
            let found = windows.iter()
                .filter(|window| row < window.before && blocks_of(row).iter().any(|block| window.blocks.contains(block)));
            prop_assert_eq!(found.count(), usize::from(row < before));
            prop_assert!(windows.iter().all(|window| (1..=17).contains(&window.blocks.len())));
            prop_assert!(windows.is_sorted_by(|one, next| one.before > next.before));
        }
    }
}
