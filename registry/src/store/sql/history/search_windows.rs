//! The windows in which a search reads the full-text index, newest rows first, until it has found a page.
//!
//! They are for an index that finds the rows with a word in no order: without them, a search would read all rows with a
//! frequent word to find the last fifty. The index has the blocks that a row is in, one of each size, and a window is a few blocks
//! of one size. It is as large as the rest of the page needs if records go on to match as often as so far. In a search for runs
//! before a time, few of the later records match: these are read at once, in blocks of all sizes, and then it begins with a small
//! window.

use crate::error::Result;
use crate::kit::account::OrganizationId;
use crate::kit::clock::Timestamp;
use crate::store::database::{Block, Database, Query, Window};
use crate::store::sql::kit::listing::Listing;
use crate::store::sql::kit::row::get;

/// The rows of the smallest blocks, as a power of two.
const SMALLEST: u32 = 9;
/// The blocks of one size that make one of the next, as a power of two.
const FACTOR: u32 = 3;
const SIZES: u32 = 6;

/// The blocks of a window, of which its last row may add another one.
const BLOCKS_MAX: i64 = 16;
/// The blocks of a window of rows of which few match: a billion rows, and up to seven blocks of each smaller size.
const FEW_BLOCKS_MAX: usize = 96;
/// The rows of the first window, and of the smallest.
const ROWS_MIN: i64 = 4096;
const ROWS_MAX: i64 = BLOCKS_MAX << compute_bits(SIZES - 1);
/// How many times larger a window may be than the one before it.
const GROWTH_MAX: i64 = 64;

/// The end of the last run that began before a time. Runs that began earlier can have ended later.
const LAST_BEFORE: &str = "SELECT f.sequence FROM (SELECT s.invocation FROM inv_started s
        WHERE s.organization = $1 AND s.started_at < $2 ORDER BY s.started_at DESC LIMIT 1) last
    JOIN inv_finished f ON f.invocation = last.invocation";

const NEWEST: &str = "SELECT rowid AS newest FROM inv_text ORDER BY rowid DESC LIMIT 1";

/// The windows that are still to be read.
#[derive(Clone, Debug)]
pub(in crate::store) struct Windows {
    before: i64,
    /// The rows of the next window; `None` for an index that is read at once.
    rows: Option<i64>,
    /// The row from which on few records match.
    few_from: i64,
    read: i64,
    found: i64,
}

impl Windows {
    /// Returns the windows of the rows before a position, for runs of an organisation that began before a time.
    pub async fn before(
        position: i64,
        database: &dyn Database,
        listing: &mut Listing,
        organization: &OrganizationId,
        time: Option<Timestamp>,
    ) -> Result<Self> {
        if database.finds_in_order() {
            return Ok(Self { before: position, rows: None, few_from: i64::MAX, read: 0, found: 0 });
        }
        let newest = listing.row(Query::new(NEWEST)).await?.map_or(Ok(0), |row| get::<i64>(&row, "newest"))?;
        let windows = Self::below(position.min(newest.saturating_add(1)));
        let Some(time) = time else { return Ok(windows) };
        let last = Query::new(LAST_BEFORE).bind(organization.as_str()).bind(time.as_milliseconds());
        let few_from = match listing.row(last).await? {
            Some(row) => get::<i64>(&row, "sequence")?.saturating_add(1),
            None => i64::MAX,
        };
        Ok(Self { few_from, ..windows })
    }

    const fn below(before: i64) -> Self {
        Self { before, rows: Some(ROWS_MIN), few_from: i64::MAX, read: 0, found: 0 }
    }

    /// Returns the next window, until all rows are read.
    pub fn read_next(&mut self) -> Option<Window> {
        let before = self.before;
        let window = (before > 0).then(|| self.list_blocks_of_few().unwrap_or_else(|| self.list_blocks()));
        window.map(|(blocks, after)| {
            let rows = before - after;
            self.before = after;
            // Rows of which few match tell nothing of the others.
            self.read += if after >= self.few_from { 0 } else { rows };
            Window { blocks, before, rows }
        })
    }

    /// Returns the blocks of rows of which few match, as few as have all of them, and their first row. `None` when even the smallest
    /// block would have others.
    fn list_blocks_of_few(&self) -> Option<(Vec<Block>, i64)> {
        let (mut blocks, mut before) = (Vec::new(), self.before);
        while self.rows.is_some() && blocks.len() < FEW_BLOCKS_MAX {
            let block = |size: u32| Block { size, number: (before - 1) >> compute_bits(size) };
            let largest = (0..SIZES).rev().map(block).find(|block| block.first() >= self.few_from);
            let Some(block) = largest.filter(|_| before > 0) else { break };
            before = block.first();
            blocks.push(block);
        }
        (!blocks.is_empty()).then_some((blocks, before))
    }

    /// Returns the blocks of the next window, and its first row.
    fn list_blocks(&self) -> (Vec<Block>, i64) {
        let Some(rows) = self.rows else { return (Vec::new(), 0) };
        let size = (0..SIZES - 1).find(|size| rows <= BLOCKS_MAX << compute_bits(*size)).unwrap_or(SIZES - 1);
        let (first, last) =
            ((self.before - rows).max(0) >> compute_bits(size), (self.before - 1) >> compute_bits(size));
        ((first..=last).map(|number| Block { size, number }).collect(), first << compute_bits(size))
    }

    /// Chooses the size of the next window: the last one had some of the records, and others are left to find.
    pub fn adapt(&mut self, found: usize, left: usize) {
        if self.read == 0 {
            return;
        }
        let [found, left] = [found, left].map(|count| i64::try_from(count).unwrap_or(i64::MAX));
        self.found = self.found.saturating_add(found);
        let expected = self.read.saturating_mul(left).checked_div(self.found).unwrap_or(ROWS_MAX);
        // Some more, so that it suffices more often than not.
        let wanted = expected.saturating_add(expected / 2);
        self.rows = self.rows.map(|rows| wanted.clamp(ROWS_MIN, (rows * GROWTH_MAX).min(ROWS_MAX)));
    }
}

impl Block {
    const fn first(&self) -> i64 {
        self.number << compute_bits(self.size)
    }
}

/// The rows of a block, as a power of two.
const fn compute_bits(size: u32) -> u32 {
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
    fn windows(before: i64, found: impl FnMut() -> usize) -> Vec<Window> {
        all(Windows::below(before), found)
    }

    fn all(mut windows: Windows, mut found: impl FnMut() -> usize) -> Vec<Window> {
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

    #[test]
    fn rows_of_which_few_match_are_read_in_large_windows() {
        let before_a_time = Windows { few_from: 6_000_000, ..Windows::below(10_000_001) };
        let starts = starts(&all(before_a_time, || 50));
        assert_eq!(starts[..4], [10_000_001, 6_000_128, 5_996_032, 5_989_888]);
    }

    proptest! {
        #[test]
        fn each_row_is_in_one_window(before in 1..1_i64 << 28, row in 0..1_i64 << 28, few: Option<u32>, seed: u64) {
            let mut rng = fastrand::Rng::with_seed(seed);
            let few_from = few.map_or(i64::MAX, |few| i64::from(few >> 4));
            let windows = all(Windows { few_from, ..Windows::below(before) }, || rng.usize(..50));
            let found = windows.iter()
                .filter(|window| row < window.before && blocks_of(row).iter().any(|block| window.blocks.contains(block)));
            prop_assert_eq!(found.count(), usize::from(row < before));
            prop_assert!(windows.iter().all(|window| (1..=FEW_BLOCKS_MAX).contains(&window.blocks.len())));
            prop_assert!(windows.is_sorted_by(|one, next| one.before > next.before));
        }
    }
}
