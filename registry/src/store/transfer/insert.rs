//! Copying the rows of a table that the target lacks.

use super::encoding::require_storable;
use super::layout::Layout;
use super::report::{TransferObserver, TransferProgress, TransferStep};
use super::source::TransferSource;
use super::target::TransferTarget;
use crate::error::{Error, Result};

/// Copies the batches that are not complete in the target. Each batch is one statement, and so one transaction.
pub(super) async fn insert_missing(
    source: &mut TransferSource,
    target: &mut TransferTarget,
    layout: &Layout,
    report: TransferObserver<'_>,
) -> Result<()> {
    let table = layout.table.name;
    let (mut after, mut rows) = (Vec::new(), 0);
    while let Some(batch) = source.batch(layout, after).await? {
        let found = target.count_in(layout, &batch.range).await?;
        if found > batch.rows {
            let detail = format!("table {table} has rows that the data directory lacks");
            return Err(Error::TargetOccupied { detail });
        }
        if found < batch.rows {
            let missing = source.rows(layout, &batch.range).await?;
            require_storable(&missing, layout)?;
            target.insert(layout, &missing).await?;
        }
        rows += batch.rows;
        after = batch.range.last;
        report(TransferProgress { step: TransferStep::Copy, table, rows, is_complete: false });
    }
    target.analyze(layout).await?;
    report(TransferProgress { step: TransferStep::Copy, table, rows, is_complete: true });
    Ok(())
}
