//! The windows in which a search reads the full-text index, newest rows first, until it has found a page.
//!
//! They are for an index that finds the rows with a word in no order: without them, a search would read all rows with a
//! frequent word to find the last fifty. The index has the names of the blocks that a row is in, one of each size. A window has
//! up to eight blocks, and the next one has larger blocks, so that a search for a rare word needs a few statements.

use super::row::get;
use crate::error::Result;
use crate::store::database::{Query, Window};
use crate::store::sql::listing::Listing;

/// The rows of the smallest blocks, as a power of two.
const ROWS: u32 = 9;
/// The blocks of one size that make one of the next, as a power of two. The names of blocks have as many bits for the size.
const GROWTH: u32 = 3;
/// The number of sizes.
const SIZES: u32 = 6;

const NEWEST: &str = "SELECT rowid AS newest FROM inv_text ORDER BY rowid DESC LIMIT 1";

/// The windows below a row.
#[derive(Clone, Debug)]
pub(in crate::store) struct Windows {
    before: i64,
    size: u32,
}

impl Windows {
    /// Returns the windows of the rows that are older than the one at the position.
    pub async fn below(listing: &mut Listing, before: i64) -> Result<Self> {
        let row = listing.row(Query::new(NEWEST)).await?;
        let newest = row.map_or(Ok(0), |row| get::<i64>(&row, "newest"))?;
        Ok(Self { before: before.min(newest.saturating_add(1)), size: 0 })
    }
}

impl Iterator for Windows {
    type Item = Window;

    fn next(&mut self) -> Option<Window> {
        let Self { before, size } = *self;
        let bits = ROWS + GROWTH * size;
        let last = (before > 0).then(|| (before - 1) >> bits)?;
        // The first block of the next size that has the last block.
        let first = last >> GROWTH << GROWTH;
        *self = Self { before: first << bits, size: (size + 1).min(SIZES - 1) };
        let blocks = (first..=last).map(|number| number << GROWTH | i64::from(size)).collect();
        Some(Window { blocks, before })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Returns the names of the blocks that a row is in, as the function of the database does.
    fn blocks_of(row: i64) -> [i64; SIZES as usize] {
        [0, 1, 2, 3, 4, 5].map(|size| row >> (9 + 3 * size) << 3 | size)
    }

    #[test]
    fn windows_grow() {
        let windows: Vec<_> = Windows { before: 10_000_001, size: 0 }.map(|window| window.before).collect();
        assert_eq!(windows, [10_000_001, 9_998_336, 9_994_240, 9_961_472, 8_388_608]);
        assert_eq!(Windows { before: 1 << 30, size: 0 }.count(), SIZES as usize - 1 + 8);
        assert_eq!(Windows { before: 0, size: 0 }.count(), 0);
    }

    proptest! {
        #[test]
        fn each_row_is_in_one_window(before in 1..1_i64 << 28, row in 0..1_i64 << 28) {
            let found = Windows { before, size: 0 }
                .filter(|window| row < window.before && blocks_of(row).iter().any(|name| window.blocks.contains(name)));
            prop_assert_eq!(found.count(), usize::from(row < before));
        }

        #[test]
        fn windows_follow_each_other(before in 1..1_i64 << 40) {
            let windows: Vec<_> = Windows { before, size: 0 }.take(20).collect();
            prop_assert!(windows.iter().all(|window| (1..=8).contains(&window.blocks.len())));
            for pair in windows.windows(2) {
                prop_assert!(pair[1].before < pair[0].before);
                let (above, below) = (blocks_of(pair[1].before), blocks_of(pair[1].before - 1));
                prop_assert!(above.iter().any(|name| pair[0].blocks.contains(name)));
                prop_assert!(!below.iter().any(|name| pair[0].blocks.contains(name)));
            }
        }
    }
}
