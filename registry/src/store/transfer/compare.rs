//! Comparing the rows of a table.

use sha2::{Digest as _, Sha256};

use super::encoding::build_key_text;
use super::layout::Layout;
use super::range::Range;
use super::report::{ComparedTable, TransferObserver, TransferProgress, TransferStep};
use super::source::TransferSource;
use super::target::TransferTarget;
use crate::error::{Error, Result};
use crate::kit::digest::Digest;

/// Reads all rows of both databases in the order of their keys and compares them.
pub(super) async fn compare(
    source: &mut TransferSource,
    target: &mut TransferTarget,
    layout: &Layout,
    report: TransferObserver<'_>,
) -> Result<ComparedTable> {
    let table = layout.table.name;
    let (mut after, mut rows, mut hash) = (Vec::new(), 0, Sha256::new());
    while let Some(batch) = source.batch(layout, after.clone()).await? {
        let here = source.rows(layout, &batch.range).await?;
        let there = target.rows(layout, &batch).await?;
        if let Some(row) = find_first_difference(&here, &there) {
            return Err(Error::CopyDiffers { table, key: build_key_text(row, layout) });
        }
        here.iter().for_each(|row| hash.update(row));
        rows += batch.rows;
        after = batch.range.last;
        report(TransferProgress { step: TransferStep::Compare, table, rows, is_complete: false });
    }
    require_end(target, layout, Range::after(after)).await?;
    report(TransferProgress { step: TransferStep::Compare, table, rows, is_complete: true });
    Ok(ComparedTable { table, rows, digest: Digest::from_bytes(hash.finalize().into()) })
}

/// Requires that the target has no rows after the last one of the source.
async fn require_end(target: &mut TransferTarget, layout: &Layout, rest: Range) -> Result<()> {
    match target.first(layout, &rest).await? {
        Some(row) => Err(Error::CopyDiffers { table: layout.table.name, key: build_key_text(&row, layout) }),
        None => Ok(()),
    }
}

/// Returns the first row that differs, is missing in the target, or is only there.
fn find_first_difference<'r>(here: &'r [String], there: &'r [String]) -> Option<&'r String> {
    let first = here.iter().zip(there).position(|(here, there)| here != there);
    let first = first.unwrap_or(here.len().min(there.len()));
    match (here.get(first), there.get(first)) {
        // A row that the target has later is in its place, and the other one is too many.
        (Some(here), Some(more)) if there[first..].contains(here) => Some(more),
        (here, there) => here.or(there),
    }
}

#[cfg(test)]
mod tests {
    use super::find_first_difference;

    #[test]
    fn the_first_row_that_differs_is_found() {
        let rows = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        for (here, there, expected) in [
            ("", "", None),
            ("1 2 3", "1 2 3", None),
            ("1 2 3", "1 3", Some("2")),
            ("1 2 3", "1 2", Some("3")),
            ("1 3", "1 2 3", Some("2")),
            ("1", "1 2", Some("2")),
            ("1 2 3", "1 2x 3", Some("2")),
        ] {
            let found = find_first_difference(&rows(here), &rows(there)).cloned();
            assert_eq!(found.as_deref(), expected, "{here} and {there}");
        }
    }
}
